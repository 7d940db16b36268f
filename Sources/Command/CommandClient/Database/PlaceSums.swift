/// Sums of operations, by location.
public struct PlaceSums: Sendable {
    /// The sum of the operations at one location.
    public struct Sum: Sendable, Equatable {
        /// The number of operations.
        public internal(set) var count = 0
        /// The number that the rules denied.
        public internal(set) var denied = 0
        /// Bytes of JSON read, written or sent.
        public internal(set) var bytes = 0
        /// Total duration in milliseconds.
        var millis = 0.0
        /// The number with a known waiting time.
        var waits = 0
        /// Their total waiting time in milliseconds.
        var waitMillis = 0.0

        /// The average duration.
        public var averageMillis: Double { millis / Double(max(count, 1)) }
        /// The average waiting time; nil if none is known.
        public var averageWaitMillis: Double? { waits == 0 ? nil : waitMillis / Double(waits) }

        static func += (left: inout Sum, right: Sum) {
            left.count += right.count
            left.denied += right.denied
            left.bytes += right.bytes
            left.millis += right.millis
            left.waits += right.waits
            left.waitMillis += right.waitMillis
        }
    }

    private var sums: [[String]: Sum] = [:]
    private let collapses: Bool

    /// Replaces keys that are too many to list. No key contains a `$`.
    static let wildcard = "$wildcard"
    /// The most children of a location that are listed.
    static let childrenMax = 25
    /// The number of locations above which children are collapsed.
    private static let placesMax = 10_000

    /// - Parameter collapses: whether many children of a location are combined.
    init(collapses: Bool) { self.collapses = collapses }

    /// Whether there were no operations.
    public var isEmpty: Bool { sums.isEmpty }

    /// Adds operations at a location.
    mutating func add(_ sum: Sum, at path: [String]) {
        sums[path, default: Sum()] += sum
        if collapses, sums.count > Self.placesMax { sums = Self.collapsed(sums) }
    }

    /// Sorted by total duration, longest first.
    public var sorted: [(path: [String], sum: Sum)] {
        (collapses ? Self.collapsed(sums) : sums).sorted { left, right in
            left.value.millis == right.value.millis ? left.key.lexicographicallyPrecedes(right.key) : left.value.millis > right.value.millis
        }.map { (path: $0.key, sum: $0.value) }
    }

    /// Combines the children of locations that have too many. Those of the root are always listed.
    private static func collapsed(_ sums: [[String]: Sum]) -> [[String]: Sum] {
        var sums = sums
        let depth = sums.keys.lazy.map(\.count).max() ?? 0
        guard depth > 1 else { return sums }
        for level in 1..<depth {
            var children: [[String]: Set<String>] = [:]
            for path in sums.keys where path.count > level { children[Array(path[..<level]), default: []].insert(path[level]) }
            let crowded = children.filter { $0.value.count > childrenMax || $0.value.contains(wildcard) }
            guard !crowded.isEmpty else { continue }
            var fewer: [[String]: Sum] = [:]
            for (path, sum) in sums {
                var path = path
                if path.count > level, crowded[Array(path[..<level])] != nil { path[level] = wildcard }
                fewer[path, default: Sum()] += sum
            }
            sums = fewer
        }
        return sums
    }
}
