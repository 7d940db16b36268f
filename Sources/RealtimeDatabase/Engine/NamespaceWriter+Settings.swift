import Bytes
import EventLoop

extension NamespaceWriter {
    /// Does `body` to the outbox as a part of this turn's transaction.
    func withOutbox<Answer: Sendable>(
        _ body: @Sendable (Outbox) throws(StoreError) -> Answer, on loop: EventLoop,
        completion: @escaping @Sendable (Result<Answer, StoreError>) -> Void
    ) {
        inTransaction({ error in loop.post { completion(.failure(StoreError(.other, error.message))) } }) { open throws(StoreError) in
            let answer = try body(open.outbox)
            batch.hasChanges = true
            batch.answer(on: loop) { failure in
                completion(failure.map { .failure(StoreError(.other, $0.message)) } ?? .success(answer))
            }
        }
    }

    /// The value of a setting of the namespace's own; nil where it was never set.
    func setting(_ name: String, answer: @escaping @Sendable ([UInt8]?) -> Void) {
        let value = try? open?.store.get(MetaKey.setting(name), in: .meta) { $0.array() }
        answer(value ?? nil)
    }

    /// Keeps a setting, or forgets it; `answer` is called on this loop.
    func setSetting(_ name: String, _ value: [UInt8]?, answer: @escaping @Sendable (DatabaseError?) -> Void) {
        inTransaction(answer) { open throws(StoreError) in
            if let value {
                try open.store.put(MetaKey.setting(name), value.span, in: .meta)
            } else {
                try open.store.delete(MetaKey.setting(name), in: .meta)
            }
            batch.hasChanges = true
            batch.answer(on: loop, answer)
        }
    }
}
