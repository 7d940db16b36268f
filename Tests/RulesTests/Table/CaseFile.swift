import Glibc
import HearthJSON
import Rules
import Tree

/// `cases/database-rules.json`: what the hosted service does, as a table.
enum CaseFile {
    struct Failure: Error {
        var message: String
    }

    static let folder: String = {
        let here = realpath(#filePath, nil)
        defer { free(here) }
        let path = here.map { String(cString: $0) } ?? #filePath
        return path.split(separator: "/", omittingEmptySubsequences: false).dropLast(2).joined(separator: "/")
    }()

    static func bytes(_ path: String) throws -> [UInt8] {
        guard let file = fopen(path, "r") else { throw Failure(message: "\(path): \(String(cString: strerror(errno)))") }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = fread(&piece, 1, piece.count, file)
            if count == 0 { return bytes }
            bytes.append(contentsOf: piece[..<count])
        }
    }

    static func members(_ name: String) -> [JSONValue] {
        guard let bytes = try? bytes(folder + "/cases/database-rules.json"), let file = try? JSONValue(parsing: bytes) else { return [] }
        return file[name]?.array ?? []
    }

    static let decisions = members("cases").map(DecisionCase.init)
    static let refusals = members("invalidUploads").map(UploadCase.init)
    static let uploads = members("validUploads").map(UploadCase.init)
}

struct UploadCase: Sendable, CustomStringConvertible {
    var id: String
    var source: [UInt8]
    var expected: String

    init(_ value: JSONValue) {
        id = value["id"]?.string ?? "?"
        source = value["raw"]?.string.map { Array($0.utf8) } ?? value["rules"]?.serialized() ?? []
        expected = value["errorContains"]?.string ?? ""
    }

    var description: String { id }
}

struct DecisionCase: Sendable, CustomStringConvertible {
    var value: JSONValue

    init(_ value: JSONValue) { self.value = value }

    var id: String { value["id"]?.string ?? "?" }
    var why: String { value["why"]?.string ?? "" }
    var isAllowed: Bool { value["allowed"]?.bool ?? false }
    var description: String { id }

    /// The result of the module, combined as in the server.
    func verdict() throws -> RuleVerdict {
        if value["auth"]?.string == "admin" { return .allowed }
        let rules = try RuleSet(parsing: value["rules"]?.serialized() ?? [])
        let old = try Node(json: value["data"] ?? .null)
        let path = try Path(parsing: value["path"]?.string ?? "")
        let now = Int64(value["now"]?.int ?? 1000)
        let context = RuleContext(auth: value["auth"], now: now)
        let body = value["newValue"]?.serialized() ?? []
        switch value["op"]?.string {
        case "read": return rules.read(path, query: try query(), context: context, data: NodeData(old), explains: true)
        case "update":
            let draft = try UpdateDraft(parsing: body.span)
            let changes = draft.members.map { member in
                let target = path.appending(member.path)
                return (target, member.draft.resolved(now: now) { old.at(target).at($0).leaf })
            }
            return write(changes, rules, context, old)
        default:
            let draft = try Draft(parsing: body.span)
            return write([(path, draft.resolved(now: now) { old.at(path).at($0).leaf })], rules, context, old)
        }
    }

    private func write(_ changes: [(Path, Node)], _ rules: RuleSet, _ context: RuleContext, _ old: Node) -> RuleVerdict {
        var new = old
        for (path, node) in changes { new = new.setting(node, at: path) }
        var budget = rules.budget()
        for (path, node) in changes {
            let verdict = rules.write(
                path, value: node, context: context, old: NodeData(old), new: NodeData(new), explains: true, budget: &budget)
            if !verdict.isAllowed { return verdict }
        }
        return .allowed
    }

    private func query() throws -> Query? {
        guard let fields = value["query"] else { return nil }
        var query = Query()
        if let child = fields["orderByChild"]?.string { query.order = .child(try Path(parsing: child)) }
        if fields["orderByKey"]?.bool == true { query.order = .key }
        if fields["orderByValue"]?.bool == true { query.order = .value }
        func bound(_ name: String) throws -> IndexValue? { try fields[name].map { IndexValue(try Node(json: $0)) } }
        query.start = try (bound("startAt") ?? bound("equalTo")).map { .startAt($0) }
        query.end = try (bound("endAt") ?? bound("equalTo")).map { .endAt($0) }
        if let limit = fields["limitToFirst"]?.int { query.limit = limit }
        if let limit = fields["limitToLast"]?.int {
            query.limit = limit
            query.anchorsLast = true
        }
        return query
    }
}
