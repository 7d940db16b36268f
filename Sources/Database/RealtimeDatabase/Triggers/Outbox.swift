public import HTTP
public import Store
public import Tree

/// The events of a namespace that wait for their functions, in rows of its store. Belongs to the writer's thread.
///
/// The writer raises events in the transaction of the write, and calls ``didCommit()`` after it. After a rollback, a new outbox must be
/// created.
public final class Outbox {
    let store: any OrderedStore
    let namespace: String
    private var nextSequence: UInt64
    /// The number of sequences that are reserved in the store. After a restart, numbering continues here.
    private var reserved: UInt64
    private var announcement: EventAnnouncement
    private var announcedBytes = 0
    /// The common prefix of the ids of this outbox's events.
    private let idPrefix: String

    /// The numbers of rows, which are maintained rather than counted.
    public internal(set) var counts: OutboxCounts

    /// Counts the events, and keeps those whose next attempt is far away; nil for an outbox without such an owner.
    public weak var keeper: (any OutboxKeeper)?

    /// Whether rows were changed since the last commit.
    public internal(set) var hasChanges = false

    private static let sequenceKey = Array("outbox.sequence".utf8)
    private static let reservation: UInt64 = 4096
    private static let announcedCountMax = 256
    private static let announcedBytesMax = 1 << 20

    /// Opens the outbox of `namespace` in its store.
    public init(_ store: any OrderedStore, namespace: String) throws(StoreError) {
        self.store = store
        self.namespace = namespace
        nextSequence = try store.get(Self.sequenceKey, in: .meta) { $0.count == 8 ? EventKey.sequence($0) : 1 } ?? 1
        reserved = nextSequence
        counts = try OutboxCounts(store)
        announcement = EventAnnouncement(namespace: namespace)
        idPrefix = String(UInt64.random(in: .min ... .max), radix: 36)
    }

    /// Adds the numbers of rows to the transaction before it commits.
    public func willCommit() throws(StoreError) {
        if hasChanges { try counts.put(in: store) }
    }

    // MARK: Raising

    /// Raises the events of a write before it is performed.
    ///
    /// - Parameters:
    ///   - changes: the written nodes, with server values resolved. No path is at or below another one.
    ///   - old: the tree before the write.
    ///   - now: the time of the write, in milliseconds since 1970.
    ///   - trace: the trace context of the write.
    /// - Returns: the reason why the write must be refused; then all of its events are removed again.
    public func raise(
        _ matcher: TriggerMatcher, changes: [(path: Path, node: Node)], old: TreeReader, limits: TriggerLimits, now: Int64,
        origin: EventOrigin, chain: EventChain, trace: TraceContext? = nil
    ) throws(StoreError) -> TriggerRefusal? {
        let mark = nextSequence
        do throws(TriggerMatcher.Failure) {
            try matcher.events(changes: changes, old: old, limits: limits) { event throws(StoreError) in
                try append(event, now: now, origin: origin, chain: chain, trace: trace)
            }
            return nil
        } catch {
            switch error {
            case .store(let error): throw error
            case .refused(let refusal):
                try withdraw(from: mark)
                return refusal
            }
        }
    }

    private func append(
        _ found: TriggeredEvent, now: Int64, origin: EventOrigin, chain: EventChain, trace: TraceContext?
    ) throws(StoreError) {
        let sequence = nextSequence
        let declaration = found.declaration
        try append(
            OutboxEvent(
                sequence: sequence, id: nextID(), namespace: namespace, function: declaration.function,
                kind: declaration.kind, path: found.path, params: declaration.parameters(in: found.path, of: namespace),
                payload: found.payload, time: now, origin: origin, chain: chain, trace: trace,
                progress: DeliveryProgress(since: now)))
    }

    /// The id of the next event, which ends with its sequence.
    public func nextID() -> String { "\(idPrefix)-\(nextSequence)" }

    /// Appends an event, which gets the next sequence.
    ///
    /// - Returns: its sequence.
    @discardableResult
    public func append(_ event: OutboxEvent) throws(StoreError) -> UInt64 {
        var event = event
        event.sequence = try takeSequence()
        let row = event.row()
        try store.put(event.key.bytes, row.span, in: .outbox)
        hasChanges = true
        counts.waiting += 1
        keeper?.didAppend(event.key, size: row.count)
        announce(event, size: row.count)
        return event.sequence
    }

    /// A sequence that no event and no dead letter has used.
    public func takeSequence() throws(StoreError) -> UInt64 {
        if nextSequence >= reserved {
            reserved = nextSequence + Self.reservation
            try store.put(Self.sequenceKey, EventKey.bytes(of: reserved).span, in: .meta)
        }
        defer { nextSequence += 1 }
        return nextSequence
    }

    private func announce(_ event: OutboxEvent, size: Int) {
        announcement.last = event.sequence
        // Without gaps, because later events would otherwise seem to be the next ones.
        let isWhole = announcement.count == announcement.events.count
        announcement.count += 1
        announcement.newest[event.function] = event.sequence
        guard isWhole, announcement.events.count < Self.announcedCountMax, announcedBytes + size <= Self.announcedBytesMax else { return }
        announcedBytes += size
        announcement.events.append(event)
    }

    /// Removes the events from `mark` on.
    private func withdraw(from mark: UInt64) throws(StoreError) {
        for function in announcement.newest.filter({ $0.value >= mark }).keys {
            let first = EventKey(function: function, sequence: mark).bytes
            try store.deleteRange(first, EventKey(function: function, sequence: .max).bytes, in: .outbox, limit: nil)
        }
        while let last = announcement.events.last, last.sequence >= mark { announcement.events.removeLast() }
        announcement.count -= Int(nextSequence - mark)
        counts.waiting -= Int(nextSequence - mark)
        // The transaction may have no other changes, and end without a commit.
        reserved = nextSequence
    }

    // MARK: Announcing

    /// The announcement of the committed transaction; nil if it has no events.
    public func didCommit() -> EventAnnouncement? {
        hasChanges = false
        guard announcement.last > 0 else { return nil }
        let finished = announcement
        announcement = EventAnnouncement(namespace: namespace)
        announcedBytes = 0
        return finished
    }

    /// An announcement of all events in the outbox, for a new delivery; nil if there are none. Takes one step for each function.
    public func pending() throws(StoreError) -> EventAnnouncement? {
        var found = EventAnnouncement(namespace: namespace)
        var lower: [UInt8] = []
        while let function = try firstFunction(from: lower) {
            let prefix = EventKey.prefix(function)
            let upper = Array(prefix.dropLast()) + [1]
            try store.scan(.outbox, from: prefix, to: upper, reversed: true) { key, _ in
                found.newest[function] = EventKey(key)?.sequence
                return .stop
            }
            lower = upper
        }
        guard let last = found.newest.values.max() else { return nil }
        found.last = last
        return found
    }

    private func firstFunction(from lower: [UInt8]) throws(StoreError) -> String? {
        var function: String?
        try store.scan(.outbox, from: lower, to: [], reversed: false) { key, _ in
            function = EventKey(key)?.function
            return .stop
        }
        return function
    }
}
