public import Store

/// The operations of the delivery on events.
extension Outbox {
    /// A page of a function's events, in order.
    public struct Page: Sendable {
        /// The events.
        public var events: [OutboxEvent] = []
        /// The sequences of unreadable rows.
        public var damaged: [UInt64] = []
        /// The sequence up to which the page is complete.
        public var through: UInt64 = 0
        /// Whether there are more events.
        public var hasMore = false
    }

    /// The events of `function` after the sequence `after`: at most `limit`, and at most `bytesMax` except for a single one.
    public func page(of function: String, after: UInt64, limit: Int, bytesMax: Int) throws(StoreError) -> Page {
        var page = Page()
        page.through = after
        guard after < .max else { return page }
        var bytes = 0
        let lower = EventKey(function: function, sequence: after + 1).bytes
        let upper = Array(function.utf8) + [1]
        try store.scan(.outbox, from: lower, to: upper, reversed: false) { [namespace] key, row in
            guard let key = EventKey(key) else { return .next }
            let count = page.events.count + page.damaged.count
            guard count == 0 || count < limit && bytes + row.count <= bytesMax else {
                page.hasMore = true
                return .stop
            }
            bytes += row.count
            page.through = key.sequence
            if let event = try? OutboxEvent(row: row, key: key, namespace: namespace) {
                page.events.append(event)
            } else {
                page.damaged.append(key.sequence)
            }
            return .next
        }
        return page
    }

    /// Events of a function that were requested by their sequences.
    public struct Fetched: Sendable {
        /// The existing, readable events.
        public var events: [OutboxEvent] = []
        /// The number of sequences that were processed.
        public var readCount = 0
    }

    /// The events of `function` with these sequences, starting with the first one: at most `bytesMax` except for a single one.
    public func events(of function: String, _ sequences: [UInt64], bytesMax: Int) throws(StoreError) -> Fetched {
        var fetched = Fetched()
        var bytes = 0
        for sequence in sequences {
            guard bytes < bytesMax else { break }
            fetched.readCount += 1
            guard let event = try event(EventKey(function: function, sequence: sequence)) else { continue }
            bytes += event.payload.count
            fetched.events.append(event)
        }
        return fetched
    }

    /// An event; nil if it does not exist or is unreadable.
    public func event(_ key: EventKey) throws(StoreError) -> OutboxEvent? {
        let found = try store.get(key.bytes, in: .outbox) { [namespace] in try? OutboxEvent(row: $0, key: key, namespace: namespace) }
        return found ?? nil
    }

    /// Deletes an event that the function has handled.
    public func acknowledge(_ key: EventKey) throws(StoreError) {
        try tellKeeper(key)
        guard try store.delete(key.bytes, in: .outbox) else { return }
        hasChanges = true
        counts.waiting -= 1
    }

    private func tellKeeper(_ key: EventKey) throws(StoreError) {
        guard let keeper, let size = try store.get(key.bytes, in: .outbox, { $0.count }) else { return }
        try keeper.willRemove(key, size: size)
    }

    /// Passes an event to the keeper until its next attempt, which ``DeliveryProgress/notBefore`` of `progress` tells. It leaves the outbox.
    public func setAside(_ key: EventKey, _ progress: DeliveryProgress) throws(StoreError) {
        guard let keeper, var event = try event(key) else { return }
        event.progress = progress
        try tellSize(key, event.row().count)
        try keeper.keep(event)
        try store.delete(key.bytes, in: .outbox)
        hasChanges = true
        counts.waiting -= 1
    }

    /// Deletes all events of a function.
    ///
    /// - Returns: their number.
    @discardableResult
    public func removeAll(of function: String) throws(StoreError) -> Int {
        var count = 0
        let (lower, upper) = (EventKey.prefix(function), Array(function.utf8) + [1])
        try store.scan(.outbox, from: lower, to: upper, reversed: false) { _, _ in
            count += 1
            return .next
        }
        try store.deleteRange(lower, upper, in: .outbox, limit: nil)
        hasChanges = true
        counts.waiting -= count
        return count
    }

    /// Stores the progress of an event's delivery.
    public func postpone(_ key: EventKey, _ progress: DeliveryProgress) throws(StoreError) {
        guard var event = try event(key) else { return }
        event.progress = progress
        let row = event.row()
        try tellSize(key, row.count)
        try store.put(key.bytes, row.span, in: .outbox)
        hasChanges = true
    }

    private func tellSize(_ key: EventKey, _ size: Int) throws(StoreError) {
        guard let keeper, let before = try store.get(key.bytes, in: .outbox, { $0.count }), before != size else { return }
        keeper.didResize(key, by: size - before)
    }

    /// Moves an event to the dead letters. If there are too many, the oldest ones are dropped.
    ///
    /// - Returns: the number of dropped ones.
    @discardableResult
    public func bury(
        _ key: EventKey, _ progress: DeliveryProgress, reason: DeadLetter.Reason, now: Int64, limits: DeadLetterLimits = DeadLetterLimits()
    ) throws(StoreError) -> Int {
        guard var event = try event(key) else { return 0 }
        event.progress = progress
        let row = DeadLetter(event: event, reason: reason, time: now).row()
        try tellKeeper(key)
        // The dead letter gets a new sequence, because dead letters are sorted by the time when they were given up.
        try store.put(EventKey.bytes(of: try takeSequence()), row.span, in: .deadLetters)
        try store.delete(key.bytes, in: .outbox)
        hasChanges = true
        counts.waiting -= 1
        counts.deadLetters += 1
        counts.deadLetterBytes += row.count
        return try dropOldest(limits)
    }
}
