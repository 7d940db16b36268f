import EventLoop
import Tree

/// A place that rules have read, and the changes that may change what they have found there.
package struct WatchedPlace: Sendable {
    /// Changes below a place.
    struct Changes: OptionSet, Sendable {
        let rawValue: UInt8

        static let writes = Changes(rawValue: 1)
        static let deletions = Changes(rawValue: 2)
    }

    var path: Path
    /// The changes below the place that count. Those at or above it always do.
    var below: Changes

    /// Whether a change counts that touches the place in this way.
    func isAffected(by touch: Touch) -> Bool {
        switch touch {
        case .whole: true
        case .below(let writes, let deletions): writes && below.contains(.writes) || deletions && below.contains(.deletions)
        }
    }
}

/// A message to a watch.
package enum WatchNews: Sendable {
    /// The places have not changed up to the state of this commit. From now on, changes are reported.
    case holds(upTo: UInt64)
    /// One of the places has changed. The watch is over.
    case changed
}

/// The watches of a namespace. A watch reports the first change that counts at one of its places.
struct WatchTable {
    struct Watch: Sendable {
        var id: UInt64
        var places: [WatchedPlace]
        var loop: EventLoop
        var handler: LoopBound<(WatchNews) -> Void>
    }

    private var places = PathTree<(watch: UInt64, place: WatchedPlace)>()
    private var watches: [UInt64: Watch] = [:]

    var count: Int { watches.count }

    mutating func insert(_ watch: Watch) {
        watches[watch.id] = watch
        for place in watch.places { places.insert((watch.id, place), id: watch.id, at: place.path) }
    }

    mutating func remove(_ id: UInt64) { _ = take(id) }

    /// Removes the watches that a change affects, and returns them.
    mutating func take(touchedBy change: TreeChange) -> [Watch] {
        guard !watches.isEmpty else { return [] }
        var affected: Set<UInt64> = []
        places.forEach(touchedBy: change) { entry, touch in
            if entry.place.isAffected(by: touch) { affected.insert(entry.watch) }
        }
        return affected.compactMap { take($0) }
    }

    private mutating func take(_ id: UInt64) -> Watch? {
        guard let watch = watches.removeValue(forKey: id) else { return nil }
        for place in watch.places { places.remove(id, at: place.path) }
        return watch
    }
}

/// The paths of the last changes, for watches that begin at an earlier state.
struct RecentChanges {
    private struct Entry {
        var commit: UInt64
        var path: Path
        var isDeleted: Bool
    }

    private static let countMax = 1024

    private var entries: [Entry] = []
    /// The number of the last commit.
    private(set) var last: UInt64 = 0
    /// The state after which all changes are known; nil before the first batch.
    private var start: UInt64?

    /// Whether all changes after the state of `commit` are known.
    func covers(_ commit: UInt64) -> Bool { start.map { commit >= $0 } ?? true }

    mutating func add(_ batch: ChangeBatch) {
        // Batches are not published while there are no listeners.
        if start == nil || batch.commit > last + 1 { forget(upTo: max(batch.commit, 1) - 1) }
        last = batch.commit
        for change in batch.changes {
            for member in change.members {
                let path = Path(change.path.segments + member.rest)
                entries.append(Entry(commit: batch.commit, path: path, isDeleted: member.isDeleted))
            }
        }
        guard entries.count > Self.countMax else { return }
        let dropped = entries.count - Self.countMax / 2
        // A commit is kept or dropped as a whole.
        forget(upTo: entries[dropped - 1].commit)
    }

    /// Whether one of the places has changed since the state of `commit`.
    func touch(_ places: [WatchedPlace], since commit: UInt64) -> Bool {
        // Most watches begin at one of the last commits.
        let first = entries.lastIndex { $0.commit <= commit }.map { $0 + 1 } ?? 0
        return entries[first...].contains { entry in places.contains { $0.isAffected(by: entry.path, isDeleted: entry.isDeleted) } }
    }

    private mutating func forget(upTo commit: UInt64) {
        entries.removeAll { $0.commit <= commit }
        start = commit
    }
}

extension WatchedPlace {
    fileprivate func isAffected(by changed: Path, isDeleted: Bool) -> Bool {
        if changed.contains(path) { return true }
        return path.contains(changed) && isAffected(by: .below(writes: !isDeleted, deletions: isDeleted))
    }
}
