import AdminProtocol
import EventLoop
import HearthBytes
import HearthJSON
import HTTP
import RealtimeDatabase
import Rules
import Tree

/// `databases/NAME/rules:judge`: evaluates the rules for a simulated read or write.
struct RulesJudgement {
    private let namespace: FoundNamespace
    private let request: Namespace.JudgedRequest
    private let rules: RuleSet?

    init(_ call: AdminCall, _ namespace: FoundNamespace, limits: RuleLimits) throws(AdminError) {
        try call.allow(.post)
        self.namespace = namespace
        let given = try JudgementRequest(parsing: call.body)
        let path = try Self.path(given.path)
        let principal = Principal.user(auth: given.auth)
        let body = (given.data ?? .null).serialized()
        switch given.operation {
        case .read:
            let query = try JudgedQuery.read(given.query)
            var read = ReadRequest(path, query.map { .query($0) } ?? .value, principal: principal)
            read.explains = true
            request = .read(read)
        case .write:
            request = .write(Self.write(.set(path, try Self.draft(body, at: path)), principal))
        case .update:
            request = .write(Self.write(.update(base: path, try Self.update(body, at: path)), principal))
        }
        rules = try given.rules.map { (value) throws(AdminError) in try Self.rules(value, limits) }
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
        // Rules as a text may contain comments.
        let source = value.string.map { Array($0.utf8) } ?? value.serialized()
        do throws(RulesError) {
            return try RuleSet(parsing: source, limits: limits)
        } catch {
            throw AdminError(.invalidArgument, "the rules are not valid: \(error)")
        }
    }

    /// The verdict with its trace.
    func answer(on loop: EventLoop) async throws(AdminError) -> JudgementAnswer {
        let verdict = try await verdict(on: loop)
        return verdict.trace.map { JudgementAnswer($0) } ?? JudgementAnswer(allowed: verdict.isAllowed)
    }

    private func verdict(on loop: EventLoop) async throws(AdminError) -> RuleVerdict {
        switch namespace {
        case .absent(let absent): return absent.judge(request, by: rules)
        case .namespace(let namespace):
            let result = await withCheckedContinuation { continuation in
                namespace.judge(request, by: rules, on: loop) { continuation.resume(returning: $0) }
            }
            return try result.mapError { AdminError($0) }.get()
        }
    }
}

extension JudgementAnswer {
    fileprivate init(_ trace: RuleTrace) {
        self.init(
            allowed: trace.isAllowed, sentence: trace.sentence,
            rules: trace.steps.map { step in
                var rule = Rule(rule: step.rule, path: step.path.description, outcome: step.outcome.rawValue)
                rule.expression = step.source
                rule.line = step.line
                rule.column = step.column
                rule.reason = step.reason
                return rule
            })
        operation = trace.operation.rawValue
        path = trace.path.description
    }
}

/// Parses a query in JSON: `{"orderBy": "born", "startAt": 1900, "limitToFirst": 10}`.
enum JudgedQuery {
    /// - Returns: nil if there is none.
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
