import DequeModule
import Synchronization
import Tree

/// Caches hashes of subtrees until a write changes them, so that a large subtree need not be read again for its hash. Readers compute them, also
/// for the writer. Can be used from any thread.
final class HashCache: Sendable {
    /// The size from which on hashes are cached.
    static let rowsMin = 256
    private static let countMax = 1024
    /// The number of changes that are remembered, and the most of one write that are remembered separately.
    private static let changesMax = 4096
    private static let changesOfWriteMax = 16

    fileprivate struct Entry {
        var key: PathKey
        var tag: EntityTag
        /// The state in which it was computed.
        var state: UInt64
    }

    private struct Hashes {
        var entries = SortedEntries()
        /// The last changes, with the states that they lead to, for hashes that are being computed in an earlier state.
        var changes: Deque<(state: UInt64, key: PathKey)> = []
        /// The changes up to this state are forgotten.
        var forgotten: UInt64 = 0
    }

    private let hashes = Mutex(Hashes())
    /// Whether a hash was asked for lately. Otherwise changes are not remembered, which would cost each write.
    private let isUsed = Atomic(false)
    /// The changes up to this state were not remembered.
    private let unnoted = Atomic<UInt64>(0)

    /// The entity tag, which contains the hash, of the subtree at `key`; nil if it is not known.
    ///
    /// - Parameter state: the number of the commit whose tree is read; nil for the newest tree, also before it is committed.
    func etag(at key: PathKey, in state: UInt64?) -> EntityTag? {
        if !isUsed.load(ordering: .relaxed) { isUsed.store(true, ordering: .sequentiallyConsistent) }
        return hashes.withLock { hashes in
            guard let entry = hashes.entries[key], state.map({ entry.state <= $0 }) ?? true else { return nil }
            return entry.tag
        }
    }

    /// Stores an entity tag, unless the subtree has changed since.
    ///
    /// - Parameters:
    ///   - state: the number of the commit whose tree was read.
    ///   - rows: the number of rows that were read for it.
    func keep(_ tag: EntityTag, at key: PathKey, in state: UInt64, rows: Int) {
        guard rows >= Self.rowsMin else { return }
        hashes.withLock { hashes in
            guard isUsed.load(ordering: .relaxed), state >= hashes.forgotten, state >= unnoted.load(ordering: .sequentiallyConsistent) else { return }
            for change in hashes.changes.reversed() {
                guard change.state > state else { break }
                if Self.affects(change.key, key) { return }
            }
            if hashes.entries.count >= Self.countMax, hashes.entries[key] == nil { hashes.entries = SortedEntries() }
            hashes.entries.insert(Entry(key: key, tag: tag, state: state))
        }
    }

    /// Drops the hashes that a write changes. Called before it is performed.
    ///
    /// - Parameters:
    ///   - base: the path that contains all of `keys`.
    ///   - state: the number that the commit of the write will have.
    func willChange(_ keys: some Collection<PathKey>, base: @autoclosure () -> PathKey, state: UInt64) {
        guard isUsed.load(ordering: .sequentiallyConsistent) else { return unnoted.store(state, ordering: .sequentiallyConsistent) }
        hashes.withLock { hashes in
            if keys.count > Self.changesOfWriteMax {
                Self.note(base(), state, &hashes)
            } else {
                for key in keys { Self.note(key, state, &hashes) }
            }
            // No hash was needed for many changes.
            guard hashes.entries.isEmpty, hashes.changes.count >= Self.changesMax else { return }
            hashes.changes = []
            hashes.forgotten = state
            isUsed.store(false, ordering: .sequentiallyConsistent)
        }
    }

    private static func note(_ key: PathKey, _ state: UInt64, _ hashes: inout Hashes) {
        if hashes.changes.count == changesMax, let first = hashes.changes.popFirst() { hashes.forgotten = max(hashes.forgotten, first.state) }
        hashes.changes.append((state, key))
        hashes.entries.removeAll(affectedBy: key)
    }

    /// Whether a change at one key changes the subtree at another: one is the other or below it.
    private static func affects(_ change: PathKey, _ key: PathKey) -> Bool {
        let count = min(change.bytes.count, key.bytes.count)
        return change.bytes.prefix(count) == key.bytes.prefix(count)
    }
}

/// Entries in the order of their keys, so that a change finds those that it affects without looking at the others.
private struct SortedEntries {
    private var entries: [HashCache.Entry] = []

    var count: Int { entries.count }
    var isEmpty: Bool { entries.isEmpty }

    subscript(_ key: PathKey) -> HashCache.Entry? {
        let place = place(of: key.bytes[...])
        return place < entries.count && entries[place].key == key ? entries[place] : nil
    }

    mutating func insert(_ entry: HashCache.Entry) {
        let place = place(of: entry.key.bytes[...])
        if place < entries.count, entries[place].key == entry.key { entries[place] = entry } else { entries.insert(entry, at: place) }
    }

    /// Removes the entries of the key, of those above it, and of those below it.
    mutating func removeAll(affectedBy key: PathKey) {
        guard !entries.isEmpty else { return }
        var end: Int? = 0
        while let above = end, above < key.bytes.count {
            let place = place(of: key.bytes[..<above])
            if place < entries.count, entries[place].key.bytes.elementsEqual(key.bytes[..<above]) { entries.remove(at: place) }
            end = PathKey.segmentEnd(key.bytes.span, from: above)
        }
        let first = place(of: key.bytes[...])
        let last = entries[first...].firstIndex { !$0.key.bytes.starts(with: key.bytes) } ?? entries.count
        entries.removeSubrange(first..<last)
    }

    /// The number of entries whose key is less.
    private func place(of key: ArraySlice<UInt8>) -> Int {
        var range = 0..<entries.count
        while !range.isEmpty {
            let middle = (range.lowerBound + range.upperBound) / 2
            let other = entries[middle].key.bytes
            range = ByteOrder.precedes(other.span, key.span) ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return range.lowerBound
    }
}
