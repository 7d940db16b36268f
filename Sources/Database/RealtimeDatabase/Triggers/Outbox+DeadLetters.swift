/// Dead letters: listed, looked at, replayed, deleted.
extension Outbox {
    /// Some dead letters, in the order in which they were given up.
    public struct DeadLetterPage: Sendable {
        /// The dead letters.
        public var letters: [DeadLetter] = []
        /// Sequences of rows that cannot be read.
        public var damaged: [UInt64] = []
        /// How many older ones there were that made room.
        public var dropped = 0
        /// The `after` of the next page; nil when there is none.
        public var next: UInt64?
    }

    /// The dead letters after the sequence `after`: at most `limit`, and no more than `bytesMax` unless it is one.
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

    /// The dead letter of this sequence.
    public func deadLetter(_ sequence: UInt64) throws(StoreError) -> DeadLetter? {
        let found = try store.get(EventKey.bytes(of: sequence), in: .deadLetters) { [namespace] in
            try? DeadLetter(row: $0, sequence: sequence, namespace: namespace)
        }
        return found ?? nil
    }

    /// Puts a dead letter's event back at the end of the outbox, as if nothing had been tried. It keeps its id and its time; the
    /// chain that led to it is forgotten, since somebody has looked at it.
    ///
    /// - Returns: whether there was such a dead letter.
    @discardableResult
    public func replay(_ sequence: UInt64, now: Int64) throws(StoreError) -> Bool {
        guard var event = try deadLetter(sequence)?.event else { return false }
        event.progress = DeliveryProgress(since: now)
        event.chain = EventChain()
        try append(event)
        return try deleteDeadLetter(sequence)
    }

    /// Forgets a dead letter, also one that cannot be read.
    ///
    /// - Returns: whether there was one.
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

    /// One that is added drops so many at most: of far too many, which a lower limit leaves, each takes some along.
    private static let droppedAtOnceMax = 16

    /// Forgets the oldest where there are too many, but never the newest.
    ///
    /// - Returns: how many.
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
