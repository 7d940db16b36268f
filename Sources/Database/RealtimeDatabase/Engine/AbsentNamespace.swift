public import Rules
import Tree

/// A namespace that was never written to. It has no files or threads. It is empty, and has the rules with which it would be created. It
/// answers reads, and writes that are refused or change nothing, so that such requests do not create a database.
public struct AbsentNamespace: Sendable {
    /// The name, as in `?ns=`.
    public let name: String
    /// The rules with which it would be created.
    public let rules: RuleSet

    private static let data = NodeData(.empty)

    // MARK: Reading

    /// Answers a read immediately, never with a stream.
    public func read(_ request: ReadRequest) -> ReadOutcome {
        let verdict = judge(request, by: rules)
        guard verdict.isAllowed else { return .refused(.permissionDenied(verdict.trace)) }
        if let query = request.query, !request.mayLackIndex, !rules.hasIndex(at: request.path, order: query.order) {
            return .refused(.indexNotDefined(query.order, at: request.path))
        }
        if request.ifNoneMatch == Node.emptyETag { return .notModified(etag: Node.emptyETag, commit: 0) }
        let tellsETag = request.wantsETag || request.ifNoneMatch != nil
        return .value(json: Array("null".utf8), etag: tellsETag ? Node.emptyETag : nil, commit: 0)
    }

    // MARK: Writing

    /// Answers a write that is refused or changes nothing. Returns nil for a write for which the namespace must be created.
    public func write(_ request: WriteRequest) -> WriteOutcome? {
        let changes = resolved(request)
        let verdict = judge(changes, request, by: rules)
        guard verdict.isAllowed else { return .refused(.permissionDenied(verdict.trace)) }
        if let expected = request.ifMatch {
            guard judge(ReadRequest(request.operation.path, principal: request.principal), by: rules).isAllowed else {
                return .refused(.permissionDenied())
            }
            if expected != Node.emptyETag { return .conflict(value: Array("null".utf8), etag: Node.emptyETag) }
        }
        // A key of a write that is performed once has to be stored, even without data.
        guard request.once == nil, changes.allSatisfy({ $0.node.isEmpty }) else { return nil }
        return .committed(
            WriteReceipt(commit: 0, value: request.wantsValue ? .empty : nil, etag: request.wantsETag ? Node.emptyETag : nil))
    }

    private func resolved(_ request: WriteRequest) -> [(path: Path, node: Node)] {
        let now = UnixTime.milliseconds()
        switch request.operation {
        case .set(let path, let draft): return [(path, draft.resolved(now: now) { _ in nil })]
        case .update(let base, let update):
            let values = update.members.map { (path: base.appending($0.path), node: $0.draft.resolved(now: now) { _ in nil }) }
            // There is no node that could have a priority.
            return values + update.priorities.map { (path: base.appending($0.path), node: .empty) }
        case .setPriority(let path, _): return [(path, .empty)]
        }
    }

    /// Throws the reason why a client may not store an operation.
    public func judge(_ operation: DisconnectOperation, principal: Principal, limits: DatabaseLimits) throws(DatabaseError) {
        guard let request = try operation.request(principal: principal, limits: limits) else { return }
        guard judge(resolved(request), request, by: rules).isAllowed else { throw .permissionDenied() }
    }

    // MARK: Judging

    /// Judges a request by the initial rules of the namespace, or by `others`.
    public func judge(_ request: Namespace.JudgedRequest, by others: RuleSet?) -> RuleVerdict {
        switch request {
        case .read(let request): judge(request, by: others ?? rules)
        case .write(let request): judge(resolved(request), request, by: others ?? rules)
        }
    }

    private func judge(_ request: ReadRequest, by rules: RuleSet) -> RuleVerdict {
        guard case .user(let auth) = request.principal else { return .allowed }
        let context = RuleContext(auth: auth, now: UnixTime.milliseconds())
        return rules.read(request.path, query: request.query, context: context, data: Self.data, explains: request.explains)
    }

    private func judge(_ changes: [(path: Path, node: Node)], _ request: WriteRequest, by rules: RuleSet) -> RuleVerdict {
        guard case .user(let auth) = request.principal else { return .allowed }
        let context = RuleContext(auth: auth, now: UnixTime.milliseconds())
        guard !changes.isEmpty else {
            return RuleVerdict(isAllowed: rules.grantsWrite(request.operation.path, context: context, old: Self.data, new: Self.data))
        }
        let after = NodeData(changes.reduce(Node.empty) { $0.setting($1.node, at: $1.path) })
        var budget = rules.budget()
        var verdict = RuleVerdict.allowed
        for change in changes {
            verdict = rules.write(
                change.path, value: change.node, context: context, old: Self.data, new: after, explains: request.explains, budget: &budget)
            guard verdict.isAllowed else { break }
        }
        return verdict
    }
}

/// The result of looking up a namespace.
public enum FoundNamespace {
    /// The namespace exists.
    case namespace(Namespace)
    /// The namespace was never written to.
    case absent(AbsentNamespace)

    /// The namespace; nil if it was never written to.
    public var namespace: Namespace? {
        if case .namespace(let namespace) = self { namespace } else { nil }
    }
}
