import EventLoop
import HearthBytes
import HearthJSON
import Logging
import Rules
import Store
import Tree

/// Operations of clients for the time after their connection (spec database 4). Each session has a row until it has ended.
extension NamespaceWriter {
    /// Stores an operation, if the rules allow it now.
    func register(
        _ operation: DisconnectOperation, of session: DisconnectSession, principal: Principal, answer: @escaping @Sendable (DatabaseError?) -> Void,
        on loop: EventLoop
    ) {
        let refuse: (DatabaseError) -> Void = { error in loop.post { answer(error) } }
        inTurn(refuse) { open throws(StoreError) in
            var plan = try storedPlan(session, open) ?? DisconnectPlan(auth: nil)
            plan.auth = principal.storedAuth
            do throws(DatabaseError) {
                for request in try Self.requests(of: operation, principal: principal, limits: settings.limits) {
                    guard try verdict(of: request, open).isAllowed else { throw .permissionDenied() }
                }
                do throws(DisconnectPlan.Fault) { try plan.apply(operation) } catch { throw DatabaseError(.invalidData, error.message) }
            } catch {
                return self.answer(on: loop) { failure in answer(failure ?? error) }
            }
            try store(plan, session, open)
            self.answer(on: loop, answer)
        }
    }

    /// Makes the operations of a session be judged for another principal.
    func setPrincipal(
        _ principal: Principal, of session: DisconnectSession, answer: @escaping @Sendable (DatabaseError?) -> Void, on loop: EventLoop
    ) {
        inTurn({ error in loop.post { answer(error) } }) { open throws(StoreError) in
            if var plan = try storedPlan(session, open) {
                plan.auth = principal.storedAuth
                try store(plan, session, open)
            }
            self.answer(on: loop, answer)
        }
    }

    /// Performs the operations of a session that has ended, and removes them in the same transaction.
    func endSession(_ session: DisconnectSession, answer: @escaping @Sendable (DatabaseError?) -> Void, on loop: EventLoop) {
        endedSessions.insert(session)
        perform(session, answer: answer, on: loop)
    }

    /// Performs the operations of the sessions that have ended, some at a time.
    func performEndedSessions() {
        guard content != nil else { return disconnectTimer.start(afterMilliseconds: Self.retryMilliseconds) }
        let some = endedSessions.prefix(Self.sessionsOfTurn)
        for session in some { perform(session, answer: { _ in }, on: loop) }
        if !endedSessions.isEmpty { disconnectTimer.start(afterMilliseconds: endedSessions.count > some.count ? 1 : Self.retryMilliseconds) }
    }

    /// Finds the sessions of earlier runs of the database, which have ended with them.
    func findEndedSessions(_ open: NamespaceContent) throws(StoreError) {
        var found: [DisconnectSession] = []
        try open.store.scan(.meta, from: MetaKey.disconnect, to: MetaKey.disconnectEnd, reversed: false) { key, _ in
            let id = key.extracting(MetaKey.disconnect.count..<key.count).string()
            if let session = DisconnectSession(id: id), !session.isOf(run: settings.run) { found.append(session) }
            return .next
        }
        endedSessions.formUnion(found)
        if !endedSessions.isEmpty { disconnectTimer.start(afterMilliseconds: 1) }
    }

    private static let sessionsOfTurn = 64
    private static let retryMilliseconds: UInt64 = 1000

    // MARK: Steps

    /// Performs the operations of a session. After a failure of the store, they are performed later.
    private func perform(_ session: DisconnectSession, answer: @escaping @Sendable (DatabaseError?) -> Void, on loop: EventLoop) {
        if let heldWrites {
            return heldWrites.hold(bytes: DisconnectPlan.bytesMax / 64) { [unowned self] in
                perform(session, answer: answer, on: loop)
            } refuse: { [unowned self] error in
                disconnectTimer.start(afterMilliseconds: Self.retryMilliseconds)
                loop.post { answer(error) }
            }
        }
        let refuse: (DatabaseError) -> Void = { [unowned self] error in
            disconnectTimer.start(afterMilliseconds: Self.retryMilliseconds)
            loop.post { answer(error) }
        }
        inTurn(refuse) { open throws(StoreError) in
            try perform(session, open)
            let done = LoopBound(
                { [unowned self] (failure: DatabaseError?) in
                    if failure == nil { endedSessions.remove(session) } else { disconnectTimer.start(afterMilliseconds: Self.retryMilliseconds) }
                }, loop: self.loop)
            self.answer(on: self.loop) { done.value($0) }
            self.answer(on: loop, answer)
        }
    }

    private func perform(_ session: DisconnectSession, _ open: NamespaceContent) throws(StoreError) {
        let key = MetaKey.disconnect(session)
        let stored = try open.store.get(key, in: .meta) { DisconnectPlan(row: $0) }
        guard let stored else { return }
        try open.store.delete(key, in: .meta)
        hasChanges = true
        guard let plan = stored, let update = try? plan.update() else {
            return settings.log.error("operations of a lost client cannot be read", metadata: ["namespace": "\(settings.name)"])
        }
        let principal: Principal = plan.auth.map { .user(auth: $0 == .null ? nil : $0) } ?? .admin
        let request = WriteRequest(.update(base: .root, update), principal: principal, origin: EventOrigin(of: principal))
        let outcome = try perform(request, open)
        figures.add(request.operation, outcome)
        if case .refused(let error) = outcome {
            settings.log.info(
                "operations of a lost client were refused", metadata: ["namespace": "\(settings.name)", "reason": "\(error.message)"])
        }
    }

    private func storedPlan(_ session: DisconnectSession, _ open: NamespaceContent) throws(StoreError) -> DisconnectPlan? {
        try open.store.get(MetaKey.disconnect(session), in: .meta) { DisconnectPlan(row: $0) } ?? nil
    }

    private func store(_ plan: DisconnectPlan, _ session: DisconnectSession, _ open: NamespaceContent) throws(StoreError) {
        hasChanges = true
        if plan.isEmpty {
            try open.store.delete(MetaKey.disconnect(session), in: .meta)
        } else {
            try open.store.put(MetaKey.disconnect(session), plan.row.span, in: .meta)
        }
    }

    /// The writes that an operation stands for, for judging it.
    private static func requests(
        of operation: DisconnectOperation, principal: Principal, limits: DatabaseLimits
    ) throws(DatabaseError) -> [WriteRequest] {
        var draftLimits = DraftLimits()
        draftLimits.stringBytesMax = limits.stringBytesMax
        do throws(NodeError) {
            switch operation {
            case .set(let path, let value):
                let draft = try DisconnectPlan.draft(value, at: path, limits: draftLimits)
                return [WriteRequest(.set(path, draft), principal: principal, origin: EventOrigin(of: principal))]
            case .update(let path, let members):
                draftLimits.depthAbove = path.count
                let update = try UpdateDraft(parsing: members.serialized().span, limits: draftLimits)
                return [WriteRequest(.update(base: path, update), principal: principal, origin: EventOrigin(of: principal))]
            case .cancel: return []
            }
        } catch {
            throw DatabaseError(.invalidData, error.message)
        }
    }
}

extension Principal {
    /// The `auth` to store: nil for an administrator, `null` for a client that is not signed in.
    fileprivate var storedAuth: JSONValue? {
        switch self {
        case .admin: nil
        case .user(let auth): auth ?? .null
        }
    }
}

extension EventOrigin {
    /// The origin of the writes of a principal (spec database 6).
    public init(of principal: Principal) {
        switch principal {
        case .admin: self = .admin
        case .user(auth: nil): self = .unauthenticated
        case .user(let auth?): self = EventOrigin(.user, id: auth["uid"]?.string)
        }
    }
}
