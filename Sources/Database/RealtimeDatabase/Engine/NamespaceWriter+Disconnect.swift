import EventLoop
import HearthBytes
import HearthJSON
import Logging
import Rules
import Store
import Tree

/// onDisconnect operations of clients (spec database 4).
extension NamespaceWriter {
    /// Stores an operation, if the rules allow it now.
    func register(
        _ operation: DisconnectOperation, of session: DisconnectSession, principal: Principal, answer: @escaping @Sendable (DatabaseError?) -> Void,
        on loop: EventLoop
    ) {
        let refuse: (DatabaseError) -> Void = { error in loop.post { answer(error) } }
        inTurn(refuse) { open throws(StoreError) in
            do throws(DatabaseError) {
                if let request = try operation.request(principal: principal, limits: settings.limits) {
                    guard try verdict(of: request, open).isAllowed else { throw .permissionDenied() }
                }
            } catch {
                return self.answer(on: loop) { failure in answer(failure ?? error) }
            }
            if let fault = try DisconnectRows(session, open.store).apply(operation, auth: principal.storedAuth) {
                return self.answer(on: loop) { failure in answer(failure ?? DatabaseError(.invalidData, fault.message)) }
            }
            hasChanges = true
            self.answer(on: loop, answer)
        }
    }

    /// Makes the operations of a session be judged for another principal. While that cannot be stored, it is remembered.
    func setPrincipal(
        _ principal: Principal, of session: DisconnectSession, answer: @escaping @Sendable (DatabaseError?) -> Void, on loop: EventLoop
    ) {
        unstoredPrincipals[session] = principal
        inTurn({ error in loop.post { answer(error) } }) { open throws(StoreError) in
            if try DisconnectRows(session, open.store).setAuth(principal.storedAuth) { hasChanges = true }
            let done = LoopBound(
                { [unowned self] (failure: DatabaseError?) in
                    if failure == nil { unstoredPrincipals[session] = nil }
                }, loop: self.loop)
            self.answer(on: self.loop) { done.value($0) }
            self.answer(on: loop, answer)
        }
    }

    /// Performs the operations of a session that has ended, and removes them in the same transaction. After a failure of the store, they are
    /// performed later.
    ///
    /// - Parameter namespace: is kept open until that is done; nil for a session of an earlier run.
    func endSession(
        _ session: DisconnectSession, of namespace: Namespace?, answer: @escaping @Sendable (DatabaseError?) -> Void, on loop: EventLoop
    ) {
        if let heldWrites {
            return heldWrites.hold(bytes: Self.heldBytes) { [unowned self] in
                endSession(session, of: namespace, answer: answer, on: loop)
            } refuse: { [unowned self] error in
                performLater(session, namespace)
                loop.post { answer(error) }
            }
        }
        let refuse: (DatabaseError) -> Void = { [unowned self] error in
            performLater(session, namespace)
            loop.post { answer(error) }
        }
        inTurn(refuse) { open throws(StoreError) in
            try perform(session, open)
            let done = LoopBound(
                { [unowned self] (failure: DatabaseError?) in
                    if failure == nil { unstoredPrincipals[session] = nil } else { performLater(session, namespace) }
                }, loop: self.loop)
            self.answer(on: self.loop) { done.value($0) }
            self.answer(on: loop, answer)
        }
    }

    /// Performs the operations of the sessions that have ended, some at a time.
    func performEndedSessions() {
        guard content != nil, heldWrites == nil else { return disconnectTimer.start(afterMilliseconds: Self.retryMilliseconds) }
        for (session, namespace) in endedSessions.prefix(Self.sessionsOfTurn) {
            endedSessions[session] = nil
            endSession(session, of: namespace, answer: { _ in }, on: loop)
        }
        if !endedSessions.isEmpty { disconnectTimer.start(afterMilliseconds: 1) }
    }

    /// Finds the sessions of earlier runs of the database, which have ended with them.
    func findEndedSessions(_ open: NamespaceContent) throws(StoreError) {
        var found: [DisconnectSession] = []
        try open.store.scan(.meta, from: MetaKey.disconnect, to: MetaKey.disconnectEnd, reversed: false) { key, _ in
            let id = key.extracting(MetaKey.disconnect.count..<key.count).string()
            if let session = DisconnectSession(id: id), !session.isOf(run: settings.run) { found.append(session) }
            return .next
        }
        // No lease: they are found again if the namespace is closed meanwhile.
        for session in found { endedSessions[session] = .some(nil) }
        if !endedSessions.isEmpty { disconnectTimer.start(afterMilliseconds: 1) }
    }

    private static let sessionsOfTurn = 64
    private static let retryMilliseconds: UInt64 = 1000
    /// The size with which a session counts among held writes: its operations are not read yet.
    private static let heldBytes = 4096

    // MARK: Steps

    private func performLater(_ session: DisconnectSession, _ namespace: Namespace?) {
        endedSessions[session] = .some(namespace)
        disconnectTimer.start(afterMilliseconds: Self.retryMilliseconds)
    }

    private func perform(_ session: DisconnectSession, _ open: NamespaceContent) throws(StoreError) {
        guard let (plan, auth) = try DisconnectRows(session, open.store).take() else { return }
        hasChanges = true
        guard let update = try? plan.update() else {
            return settings.log.error("onDisconnect operations cannot be read", metadata: ["namespace": "\(settings.name)"])
        }
        let principal = unstoredPrincipals[session] ?? auth.map { .user(auth: $0 == .null ? nil : $0) } ?? .admin
        let request = WriteRequest(.update(base: .root, update), principal: principal, origin: EventOrigin(of: principal))
        let outcome = try perform(request, open)
        figures.add(request.operation, outcome)
        if case .refused(let error) = outcome {
            settings.log.info(
                "onDisconnect operations were refused", metadata: ["namespace": "\(settings.name)", "reason": "\(error.message)"])
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

extension DisconnectOperation {
    /// The write that the operation stands for, for judging it; nil for one that only removes others.
    func request(principal: Principal, limits: DatabaseLimits) throws(DatabaseError) -> WriteRequest? {
        var draftLimits = DraftLimits()
        draftLimits.stringBytesMax = limits.stringBytesMax
        do throws(NodeError) {
            switch self {
            case .set(let path, let value):
                let draft = try DisconnectPlan.draft(value, at: path, limits: draftLimits)
                return WriteRequest(.set(path, draft), principal: principal, origin: EventOrigin(of: principal))
            case .update(let path, let members):
                draftLimits.depthAbove = path.count
                let update = try UpdateDraft(parsing: members.serialized().span, limits: draftLimits)
                return WriteRequest(.update(base: path, update), principal: principal, origin: EventOrigin(of: principal))
            case .cancel: return nil
            }
        } catch {
            throw DatabaseError(.invalidData, error.message)
        }
    }
}
