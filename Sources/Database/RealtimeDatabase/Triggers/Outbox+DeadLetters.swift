public import Store

/// Lists, reads, replays and deletes dead letters.
extension Outbox {
    /// A page of dead letters, in the order in which they were given up.
    public struct DeadLetterPage: Sendable {
        /// The dead letters.
        public var letters: [DeadLetter] = []
        /// The sequences of unreadable rows.
        public var damaged: [UInt64] = []
        /// The number of older ones that were dropped for newer ones.
        public var dropped = 0
        /// The value of `after` for the next page; nil if there is none.
        public var next: UInt64?
    }

    /// The dead letters after the sequence `after`: at most `limit`, and at most `bytesMax` except for a single one.
    public func deadLetters(after: UInt64 = 0, limit: Int, bytesMax: Int = 16 << 20) throws(StoreError) -> DeadLetterPage {
        var page = DeadLetterPage()
        page.dropped = counts.dropped
        guard after < .max else { return page }
        var bytes = 0
        var last = after
        try store.scan(.deadLetters, from: EventKey.bytes(of: after + 1), to: [], reversed: false) { [namespace] key, row in
            let count = page.letters.count + page.damaged.count
            guard count == 0 || count < limit && bytes + row.count <= bytesMax else {
                page.next = last
                return .stop
            }
            bytes += row.count
            last = EventKey.sequence(key)
            if let letter = try? DeadLetter(row: row, sequence: last, namespace: namespace) {
                page.letters.append(letter)
            } else {
                page.damaged.append(last)
            }
            return .next
        }
        return page
    }

    /// The dead letter with this sequence.
    public func deadLetter(_ sequence: UInt64) throws(StoreError) -> DeadLetter? {
        let found = try store.get(EventKey.bytes(of: sequence), in: .deadLetters) { [namespace] in
            try? DeadLetter(row: $0, sequence: sequence, namespace: namespace)
        }
        return found ?? nil
    }

    /// Appends a dead letter's event to the outbox again, without any attempts. Its id and time are kept. Its chain is removed, because an
    /// administrator has interrupted it.
    ///
    /// - Returns: false if there is no such dead letter.
    @discardableResult
    public func replay(_ sequence: UInt64, now: Int64) throws(StoreError) -> Bool {
        guard var event = try deadLetter(sequence)?.event else { return false }
        event.progress = DeliveryProgress(since: now)
        event.chain = EventChain()
        event.sequence = try append(event)
        try keeper?.didReplay(event)
        return try deleteDeadLetter(sequence)
    }

    /// Deletes a dead letter, even if it is unreadable.
    ///
    /// - Returns: false if there was none.
    @discardableResult
    public func deleteDeadLetter(_ sequence: UInt64) throws(StoreError) -> Bool {
        let key = EventKey.bytes(of: sequence)
        guard let size = try store.get(key, in: .deadLetters, { $0.count }) else { return false }
        try store.delete(key, in: .deadLetters)
        hasChanges = true
        counts.deadLetters -= 1
        counts.deadLetterBytes -= size
        return true
    }

    /// The most dead letters that are dropped when one is added, for the case that the limit was lowered and far too many are stored.
    private static let droppedAtOnceMax = 16

    /// Deletes the oldest dead letters if a limit is exceeded, but never the newest one.
    ///
    /// - Returns: the number of deleted ones.
    func dropOldest(_ limits: DeadLetterLimits) throws(StoreError) -> Int {
        var left = counts
        guard limits.areExceeded(by: left) else { return 0 }
        try store.scan(.deadLetters, from: [], to: [], reversed: false) { _, row in
            left.deadLetters -= 1
            left.deadLetterBytes -= row.count
            left.dropped += 1
            return limits.areExceeded(by: left) && left.dropped - counts.dropped < Self.droppedAtOnceMax ? .next : .stop
        }
        let count = left.dropped - counts.dropped
        try store.deleteRange([], [], in: .deadLetters, limit: count)
        counts = left
        return count
    }
}
