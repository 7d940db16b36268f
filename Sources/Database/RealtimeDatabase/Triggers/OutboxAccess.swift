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

/// The outbox of a namespace that need not be open: each question opens it, and nothing keeps it open in between.
final class OutboxOfName: OutboxAccess {
    let name: String
    private let database: RealtimeDatabase

    init(_ name: String, in database: RealtimeDatabase) {
        self.name = name
        self.database = database
    }

    func withOutbox<Answer: Sendable>(
        on loop: EventLoop, _ body: @escaping @Sendable (Outbox) throws(StoreError) -> Answer,
        completion: @escaping @Sendable (Result<Answer, StoreError>) -> Void
    ) {
        do throws(DatabaseError) {
            try database.namespace(name).withOutbox(on: loop, body, completion: completion)
        } catch {
            loop.post { completion(.failure(StoreError(.other, error.message))) }
        }
    }
}

extension RealtimeDatabase {
    /// The outbox of a namespace, from which whoever has it can deliver without keeping the namespace open.
    public func outbox(of name: String) -> any OutboxAccess { OutboxOfName(name, in: self) }
}
