import HearthBytes
import EventLoop
import Store

extension NamespaceWriter {
    /// Calls `body` with the outbox as a part of this turn's transaction.
    func withOutbox<Answer: Sendable>(
        _ body: @Sendable (Outbox) throws(StoreError) -> Answer, on loop: EventLoop,
        completion: @escaping @Sendable (Result<Answer, StoreError>) -> Void
    ) {
        inTurn({ error in loop.post { completion(.failure(StoreError(.other, error.message))) } }) { open throws(StoreError) in
            let answer = try body(open.outbox)
            self.answer(on: loop) { failure in
                completion(failure.map { .failure(StoreError(.other, $0.message)) } ?? .success(answer))
            }
        }
    }

    /// The value of the namespace's own setting; nil if it was never set.
    func setting(_ name: String, answer: @escaping @Sendable ([UInt8]?) -> Void) {
        let value = try? content?.store.get(MetaKey.setting(name), in: .meta) { $0.array() }
        answer(value ?? nil)
    }

    /// Stores a setting, or removes it. `answer` is called on this loop.
    func setSetting(_ name: String, _ value: [UInt8]?, answer: @escaping @Sendable (DatabaseError?) -> Void) {
        inTurn(answer) { open throws(StoreError) in
            if let value {
                try open.store.put(MetaKey.setting(name), value.span, in: .meta)
            } else {
                try open.store.delete(MetaKey.setting(name), in: .meta)
            }
            hasChanges = true
            triggerLimits = try readTriggerLimits(open)
            self.answer(on: loop, answer)
        }
    }

    /// The configured limits, with the namespace's own setting for refusing.
    func readTriggerLimits(_ open: NamespaceContent) throws(StoreError) -> TriggerLimits {
        var limits = settings.limits.triggers
        let isStrict = try open.store.get(MetaKey.setting(Self.strictTriggerValidation), in: .meta) { $0.equals("true") }
        if let isStrict { limits.isStrict = isStrict }
        return limits
    }

    /// The name of the setting for refusing writes that exceed the limits of triggers: `true` or `false`.
    static let strictTriggerValidation = "strictTriggerValidation"
}
