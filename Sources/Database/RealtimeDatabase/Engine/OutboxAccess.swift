public import EventLoop
import Store

/// Access to the outbox of a namespace from other threads than the writer's.
public protocol OutboxAccess: AnyObject, Sendable {
    /// The namespace's name.
    var name: String { get }

    /// Runs `body` on the writer's thread as a part of the next transaction. Calls `completion` on `loop` when that is durable, or with the
    /// error.
    func withOutbox<Answer: Sendable>(
        on loop: EventLoop, _ body: @escaping @Sendable (Outbox) throws(StoreError) -> Answer,
        completion: @escaping @Sendable (Result<Answer, StoreError>) -> Void)
}

/// The outbox of a namespace that need not be open: each access opens it, and nothing keeps it open in between.
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
    /// The outbox of a namespace, for delivering events without keeping the namespace open.
    public func outbox(of name: String) -> any OutboxAccess { OutboxOfName(name, in: self) }
}
