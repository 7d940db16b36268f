import HearthBytes
import Store

/// The marks of writes that are performed once: each a row with the time of its end, and a row that finds it by that time. They are no part of the
/// tree, so that clients, rules, exports and listeners do not see them.
struct OnceMarks {
    private let store: any OrderedStore

    /// Ended marks that each new mark removes, so that their number stays bounded without work at other times.
    private static let sweepMax = 4

    init(_ store: any OrderedStore) { self.store = store }

    /// Whether there is a mark that has not ended.
    func contains(_ key: [UInt8], now: Int64) throws(StoreError) -> Bool {
        let end = try store.get(MetaKey.once(key), in: .meta) { MetaKey.number($0) }
        return end.map { $0 > UInt64(clamping: now) } ?? false
    }

    /// Adds a mark that ends at a time, and removes some ended ones.
    func add(_ key: [UInt8], until end: Int64, now: Int64) throws(StoreError) {
        if let old = try store.get(MetaKey.once(key), in: .meta, { MetaKey.number($0) }) {
            try store.delete(MetaKey.onceEnds(before: Int64(clamping: old)) + key, in: .meta)
        }
        try store.put(MetaKey.once(key), MetaKey.bytes(UInt64(clamping: end)).span, in: .meta)
        try store.put(MetaKey.onceEnds(before: end) + key, [1].span, in: .meta)
        try sweep(now: now)
    }

    private func sweep(now: Int64) throws(StoreError) {
        var ended: [[UInt8]] = []
        try store.scan(.meta, from: MetaKey.onceEnds, to: MetaKey.onceEnds(before: now), reversed: false) { row, _ in
            ended.append(row.array())
            return ended.count < Self.sweepMax ? .next : .stop
        }
        for row in ended {
            try store.delete(row, in: .meta)
            try store.delete(MetaKey.once(Array(row.dropFirst(MetaKey.onceEnds.count + 8))), in: .meta)
        }
    }
}

/// The key of a write that is performed once.
public struct OnceKey: Sendable {
    /// Different for different writes.
    public var bytes: [UInt8]
    /// How long the mark is kept.
    public var milliseconds: Int64

    /// A key, and the time for which a second write with it does nothing.
    public init(_ bytes: [UInt8], milliseconds: Int64) {
        self.bytes = bytes
        self.milliseconds = milliseconds
    }
}
