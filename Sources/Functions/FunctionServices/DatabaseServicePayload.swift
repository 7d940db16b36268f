import HearthBytes
import HearthJSON
import RealtimeDatabase
import Tree

/// The parsed payload of a call of the database service. The value stays text until its use is known.
struct DatabaseServicePayload {
    private let text: [UInt8]
    /// The path that the call refers to.
    private(set) var path = Path.root
    /// The name of the database; nil for the default one.
    private(set) var instance: String?
    /// The user on whose behalf the call is made; nil for an administrator, JSON's null for a user who is not signed in.
    private var auth: JSONValue?
    private var members = Members()

    /// The ranges of the members' values in the text.
    private struct Members {
        var path, instance, auth, value, priority, etag, form, query, mark, id, key, timeoutMilliseconds: Range<Int>?
        var unknown: String?

        mutating func take(_ name: Span<UInt8>, _ range: Range<Int>) {
            if name.equals("path") {
                path = range
            } else if name.equals("value") {
                value = range
            } else if name.equals("instance") {
                instance = range
            } else if name.equals("auth") {
                auth = range
            } else if name.equals("priority") {
                priority = range
            } else if name.equals("etag") {
                etag = range
            } else if name.equals("form") {
                form = range
            } else if name.equals("query") {
                query = range
            } else if name.equals("mark") {
                mark = range
            } else if name.equals("id") {
                id = range
            } else if name.equals("key") {
                key = range
            } else if name.equals("timeoutMilliseconds") {
                timeoutMilliseconds = range
            } else {
                unknown = name.string()
            }
        }
    }

    init(_ text: [UInt8]) throws(DatabaseServiceRefusal) {
        self.text = text
        var members = Members()
        let kind: JSONKind
        do throws(JSONError) {
            kind = try JSONScan.members(of: text.span) { name, range, _ in members.take(name, range) }.kind
        } catch {
            throw .invalid("the payload is not JSON: \(error.explanation(in: text.span))")
        }
        guard kind == .object else { throw .invalid("the payload is not an object") }
        if let unknown = members.unknown { throw .invalid("the payload has a member \"\(unknown)\", which is unknown") }
        self.members = members
        path = try place()
        if let name = json(members.instance) {
            guard let name = name.string else { throw .invalid("instance is not a string", at: path) }
            instance = name
        }
        auth = json(members.auth)
        switch auth {
        case nil, .null: break
        case .object(let user) where user["uid"]?.string != nil: break
        default: throw .invalid("auth must be null or an object with a uid", at: path)
        }
    }

    /// Changes the path to that of a child.
    mutating func descend(to key: String) throws(DatabaseServiceRefusal) {
        guard path.count < Path.depthMax else { throw .invalid(PathError(kind: .tooDeep).message, at: path) }
        path = path.appending(key)
    }

    private func place() throws(DatabaseServiceRefusal) -> Path {
        guard let member = json(members.path) else { return .root }
        guard let text = member.string else { throw .invalid("path is not a string") }
        do throws(PathError) { return try Path(parsing: text) } catch { throw .invalid(error.message, named: text) }
    }

    private func json(_ range: Range<Int>?) -> JSONValue? {
        range.flatMap { try? JSONValue(parsing: text.span.extracting($0)) }
    }

    // MARK: Principal

    var principal: Principal {
        guard let auth else { return .admin }
        // The operator `?:` would convert nil to JSON's null.
        guard !auth.isNull else { return .user(auth: nil) }
        return .user(auth: variable(auth))
    }

    /// The principal, for events of a write.
    var origin: EventOrigin {
        guard let auth else { return .admin }
        return auth.isNull ? .unauthenticated : EventOrigin(.user, id: auth["uid"]?.string)
    }

    /// The variable `auth` for rules: made from the claims of a token that the function passes on, or as the function gives it.
    private func variable(_ auth: JSONValue) -> JSONValue {
        guard auth["provider"] == nil else { return auth }
        return AuthVariable.make(uid: auth["uid"]?.string ?? "", claims: auth["token"] ?? [:])
    }

    // MARK: Values

    /// The size of the data to write.
    var valueBytes: Int { (members.value?.count ?? 0) + (members.priority?.count ?? 0) }

    /// The value to write, with its priority.
    func draft() throws(DatabaseServiceRefusal) -> Draft {
        guard let value = members.value else { throw .invalid("value is missing", at: path) }
        var draft = try parsed { limits throws(NodeError) in try Draft(parsing: text.span.extracting(value), limits: limits) }
        guard members.priority != nil, !draft.node.isEmpty else { return draft }
        let priority = try priorityDraft()
        if case .leaf(let leaf) = priority.node.content { draft.node.priority = Priority(leaf) } else { draft.node.priority = nil }
        draft.timestampPriorities.removeAll { $0.isRoot }
        if !priority.serverValues.isEmpty { draft.timestampPriorities.append(.root) }
        return draft
    }

    /// The priority to write.
    func priorityDraft() throws(DatabaseServiceRefusal) -> Draft {
        guard let priority = members.priority else { throw .invalid("priority is missing", at: path) }
        return try parsed { limits throws(NodeError) in try Draft(parsingPriority: text.span.extracting(priority), limits: limits) }
    }

    /// The values to write, by their paths relative to `path`.
    func updateDraft() throws(DatabaseServiceRefusal) -> UpdateDraft {
        guard let value = members.value else { throw .invalid("value is missing", at: path) }
        return try parsed { limits throws(NodeError) in try UpdateDraft(parsing: text.span.extracting(value), limits: limits) }
    }

    /// The most nodes in a payload, since a node takes more memory than its text.
    private static let nodesMax = 4 << 20

    private func parsed<T>(_ parse: (DraftLimits) throws(NodeError) -> T) throws(DatabaseServiceRefusal) -> T {
        var limits = DraftLimits(depthAbove: path.count)
        limits.nodesMax = Self.nodesMax
        do throws(NodeError) { return try parse(limits) } catch { throw .invalid(error.message, at: path) }
    }

    // MARK: Options

    /// The form of the answer: `"form": "value"` (the default) or `"export"`.
    func form() throws(DatabaseServiceRefusal) -> JSONForm {
        switch json(members.form) {
        case nil, "value": .value
        case "export": .export
        default: throw .invalid("form is neither \"value\" nor \"export\"", at: path)
        }
    }

    /// Whether the answer contains the etag: `"etag": true`.
    func wantsETag() throws(DatabaseServiceRefusal) -> Bool {
        guard let etag = json(members.etag) else { return false }
        guard let isWanted = etag.bool else { throw .invalid("etag must be true or false", at: path) }
        return isWanted
    }

    /// The etag that the current value must have.
    func etag() throws(DatabaseServiceRefusal) -> String {
        guard let etag = json(members.etag)?.string else { throw .invalid("etag must be a string", at: path) }
        return etag
    }

    /// The query that selects children; nil for the whole value.
    func query() throws(DatabaseServiceRefusal) -> Query? {
        guard let query = json(members.query), !query.isNull else { return nil }
        do throws(QueryProblem) { return try Query(service: query) } catch { throw .invalid(error.message, at: path) }
    }

    /// The key of a write that is performed once.
    func onceKey() throws(DatabaseServiceRefusal) -> String {
        guard let key = json(members.key)?.string, (1...Self.onceKeyBytesMax).contains(key.utf8.count) else {
            throw .invalid("key must be a string of 1 to \(Self.onceKeyBytesMax) bytes", at: path)
        }
        return key
    }

    private static let onceKeyBytesMax = 512

    // MARK: Observing

    /// The mark of the value that the caller has.
    func mark() throws(DatabaseServiceRefusal) -> String? { try word(members.mark, "mark") }

    /// The name of the wait, with which it can be ended.
    func id() throws(DatabaseServiceRefusal) -> String? { try word(members.id, "id") }

    func requiredID() throws(DatabaseServiceRefusal) -> String {
        guard let id = try id() else { throw .invalid("id is missing", at: path) }
        return id
    }

    /// The longest wait, if it is given.
    func timeoutMilliseconds() throws(DatabaseServiceRefusal) -> UInt64? {
        guard let member = json(members.timeoutMilliseconds), !member.isNull else { return nil }
        guard let number = member.int, number >= 0 else { throw .invalid("timeoutMilliseconds must be a whole number of at least 0", at: path) }
        return UInt64(number)
    }

    private func word(_ range: Range<Int>?, _ name: String) throws(DatabaseServiceRefusal) -> String? {
        guard let member = json(range), !member.isNull else { return nil }
        guard let text = member.string, (1...Self.wordBytesMax).contains(text.utf8.count) else {
            throw .invalid("\(name) must be a string of 1 to \(Self.wordBytesMax) bytes", at: path)
        }
        return text
    }

    private static let wordBytesMax = 64
}
