public import EventLoop

/// onDisconnect operations of clients (spec database 4).
extension Namespace {
    /// Stores an operation durably until the session ends. The rules judge it now, and again when it is performed.
    ///
    /// - Parameter completion: gets nil when the operation is stored, otherwise the reason why it is not.
    public func registerDisconnect(
        _ operation: DisconnectOperation, of session: DisconnectSession, principal: Principal, on loop: EventLoop,
        completion: @escaping (DatabaseError?) -> Void
    ) {
        let answer = LoopBound(completion, loop: loop)
        onWriter { $0.register(operation, of: session, principal: principal, answer: { answer.value($0) }, on: loop) }
    }

    /// Replaces the principal for whom the operations of a session will be judged.
    public func setDisconnectPrincipal(
        _ principal: Principal, of session: DisconnectSession, on loop: EventLoop, completion: @escaping (DatabaseError?) -> Void
    ) {
        let answer = LoopBound(completion, loop: loop)
        onWriter { $0.setPrincipal(principal, of: session, answer: { answer.value($0) }, on: loop) }
    }

    /// Performs the operations of a session that has ended as one write, exactly once. If the disk is full, they are performed later.
    public func endSession(_ session: DisconnectSession, on loop: EventLoop, completion: @escaping (DatabaseError?) -> Void) {
        let answer = LoopBound(completion, loop: loop)
        onWriter { [self] in $0.endSession(session, of: self, answer: { answer.value($0) }, on: loop) }
    }
}

extension RealtimeDatabase {
    /// A session for a client that has connected.
    public func makeSession() -> DisconnectSession { DisconnectSession(run: run) }
}
