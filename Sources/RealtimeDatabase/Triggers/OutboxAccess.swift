public import EventLoop

/// The outbox of a namespace, for those who are not on the writer's thread.
public protocol OutboxAccess: AnyObject, Sendable {
    /// The namespace's name.
    var name: String { get }

    /// Runs `body` on the writer's thread as a part of the next transaction, and calls `completion` on `loop` when that is
    /// durable, or with why it is not.
    func withOutbox<Answer: Sendable>(
        on loop: EventLoop, _ body: @escaping @Sendable (Outbox) throws(StoreError) -> Answer,
        completion: @escaping @Sendable (Result<Answer, StoreError>) -> Void)
}
