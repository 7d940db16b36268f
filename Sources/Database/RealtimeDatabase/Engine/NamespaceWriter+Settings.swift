import HearthBytes
import EventLoop

extension NamespaceWriter {
    /// Does `body` to the outbox as a part of this turn's transaction.
    func withOutbox<Answer: Sendable>(
        _ body: @Sendable (Outbox) throws(StoreError) -> Answer, on loop: EventLoop,
        completion: @escaping @Sendable (Result<Answer, StoreError>) -> Void
    ) {
        inTransaction({ error in loop.post { completion(.failure(StoreError(.other, error.message))) } }) { open throws(StoreError) in
            let answer = try body(open.outbox)
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
            triggerLimits = try readTriggerLimits(open)
            batch.answer(on: loop, answer)
        }
    }

    /// The configured limits, as strict as the namespace's own setting says.
    func readTriggerLimits(_ open: OpenStore) throws(StoreError) -> TriggerLimits {
        var limits = settings.limits.triggers
        let isStrict = try open.store.get(MetaKey.setting(Self.strictTriggerValidation), in: .meta) { $0.equals("true") }
        if let isStrict { limits.isStrict = isStrict }
        return limits
    }

    /// The setting that decides whether writes beyond the limits of triggers are refused: `true` or `false`.
    static let strictTriggerValidation = "strictTriggerValidation"
}
