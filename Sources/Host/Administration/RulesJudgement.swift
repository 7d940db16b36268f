import AdminProtocol
import EventLoop
import HearthBytes
import HearthJSON
import HTTP
import RealtimeDatabase
import Rules
import Tree

/// `databases/NAME/rules:judge`: what rules say of a read or a write, without doing it.
struct RulesJudgement {
    private let call: AdminCall
    private let namespace: FoundNamespace
    private let request: Namespace.JudgedRequest
    private let rules: RuleSet?

    init(_ call: AdminCall, _ namespace: FoundNamespace, limits: RuleLimits) throws(AdminError) {
        try call.allow(.post)
        self.call = call
        self.namespace = namespace
        guard let text = call.body["path"]?.string else { throw AdminError(.invalidArgument, "path must be a string, for example /users/ada") }
        let path = try Self.path(text)
        let principal = Principal.user(auth: call.body["auth"].flatMap { $0.isNull ? JSONValue?.none : $0 })
        switch call.body["operation"]?.string {
        case "read":
            let query = try JudgedQuery.read(call.body["query"])
            var read = ReadRequest(path, query.map { .query($0) } ?? .value, principal: principal)
            read.explains = true
            request = .read(read)
        case "write":
            let body = (call.body["data"] ?? .null).serialized()
            request = .write(Self.write(.set(path, try Self.draft(body, at: path)), principal))
        case "update":
            let body = (call.body["data"] ?? .null).serialized()
            request = .write(Self.write(.update(base: path, try Self.update(body, at: path)), principal))
        default: throw AdminError(.invalidArgument, "operation must be read, write or update")
        }
        rules = try call.body["rules"].map { (value) throws(AdminError) in try Self.rules(value, limits) }
    }

    private static func write(_ operation: WriteRequest.Operation, _ principal: Principal) -> WriteRequest {
        var request = WriteRequest(operation, principal: principal, origin: .unauthenticated)
        request.explains = true
        return request
    }

    private static func path(_ text: String) throws(AdminError) -> Path {
        do throws(PathError) { return try Path(parsing: text) } catch { throw AdminError(.invalidArgument, error.message) }
    }

    private static func draft(_ body: [UInt8], at path: Path) throws(AdminError) -> Draft {
        do throws(NodeError) {
            return try Draft(parsing: body.span, limits: DraftLimits(depthAbove: path.count))
        } catch {
            throw AdminError(.invalidArgument, error.message)
        }
    }

    private static func update(_ body: [UInt8], at path: Path) throws(AdminError) -> UpdateDraft {
        do throws(NodeError) {
            return try UpdateDraft(parsing: body.span, limits: DraftLimits(depthAbove: path.count))
        } catch {
            throw AdminError(.invalidArgument, error.message)
        }
    }

    private static func rules(_ value: JSONValue, _ limits: RuleLimits) throws(AdminError) -> RuleSet {
        // As text they may have comments.
        let source = value.string.map { Array($0.utf8) } ?? value.serialized()
        do throws(RulesError) {
            return try RuleSet(parsing: source, limits: limits)
        } catch {
            throw AdminError(.invalidArgument, "the rules are not valid: \(error)")
        }
    }

    /// Answers with the trace.
    func answer(on loop: EventLoop) {
        switch namespace {
        case .absent(let absent): answer(absent.judge(request, by: rules))
        case .namespace(let namespace):
            namespace.judge(request, by: rules, on: loop) { [call] result in
                switch result {
                case .success(let verdict): answer(verdict)
                case .failure(let error): call.refuse(AdminError(error))
                }
            }
        }
    }

    private func answer(_ verdict: RuleVerdict) {
        call.answer(verdict.trace?.json ?? ["allowed": .bool(verdict.isAllowed), "rules": []])
    }
}

/// A query as an object of JSON: `{"orderBy": "born", "startAt": 1900, "limitToFirst": 10}`.
enum JudgedQuery {
    /// - Returns: nil where there is none.
    static func read(_ value: JSONValue?) throws(AdminError) -> Query? {
        guard let value, !value.isNull else { return nil }
        guard let object = value.object else { throw AdminError(.invalidArgument, "query must be an object, for example {\"orderBy\": \"$key\"}") }
        var query = Query()
        for (name, member) in object {
            switch name {
            case "orderBy": query.order = try order(member)
            case "startAt": query.start = .startAt(try bound(name, member))
            case "endAt": query.end = .endAt(try bound(name, member))
            case "equalTo":
                query.start = .startAt(try bound(name, member))
                query.end = .endAt(try bound(name, member))
            case "limitToFirst", "limitToLast":
                guard let count = member.int, count > 0 else { throw AdminError(.invalidArgument, "\(name) must be a number of at least 1") }
                query.limit = count
                query.anchorsLast = name == "limitToLast"
            default:
                throw AdminError(
                    .invalidArgument, "\(name) is not part of a query; orderBy, startAt, endAt, equalTo, limitToFirst and limitToLast are")
            }
        }
        return query
    }

    private static func order(_ value: JSONValue) throws(AdminError) -> Query.Order {
        switch value.string {
        case "$key": return .key
        case "$value": return .value
        case "$priority": return .priority
        default:
            guard let text = value.string, let path = try? Path(parsing: text), !path.isRoot else {
                throw AdminError(.invalidArgument, "orderBy must be $key, $value, $priority or the path of a child")
            }
            return .child(path)
        }
    }

    private static func bound(_ name: String, _ value: JSONValue) throws(AdminError) -> IndexValue {
        switch value {
        case .null: return .null
        case .bool(let value): return value ? .true : .false
        case .string(let text): return .string(text)
        default:
            guard let number = value.double else { throw AdminError(.invalidArgument, "\(name) must be a string, a number, a boolean or null") }
            return .number(number)
        }
    }
}
