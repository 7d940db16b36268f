/// Operations added up by the places that they were about.
public struct PlaceSums: Sendable {
    /// What the operations of one place come to.
    public struct Sum: Sendable, Equatable {
        /// How many there were.
        public internal(set) var count = 0
        /// How many the rules denied.
        public internal(set) var denied = 0
        /// The JSON that was read, written or sent.
        public internal(set) var bytes = 0
        /// How long they took, in milliseconds.
        var millis = 0.0
        /// How many are known to have waited.
        var waits = 0
        /// How long those waited, in milliseconds.
        var waitMillis = 0.0

        /// The time that one took.
        public var averageMillis: Double { millis / Double(max(count, 1)) }
        /// The time that one waited; nil where none is known to have waited.
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

    /// Stands for keys that are too many to be told apart. No key has a `$`.
    static let wildcard = "$wildcard"
    /// So many children of a place are told apart.
    static let childrenMax = 25
    /// So many places are kept before they are looked at for what can be collapsed.
    private static let placesMax = 10_000

    /// - Parameter collapses: whether the children of a place become one where there are many.
    init(collapses: Bool) { self.collapses = collapses }

    /// Whether there was nothing.
    public var isEmpty: Bool { sums.isEmpty }

    /// Adds operations at the place that these keys lead to.
    mutating func add(_ sum: Sum, at path: [String]) {
        sums[path, default: Sum()] += sum
        if collapses, sums.count > Self.placesMax { sums = Self.collapsed(sums) }
    }

    /// Where the most time went comes first.
    public var sorted: [(path: [String], sum: Sum)] {
        (collapses ? Self.collapsed(sums) : sums).sorted { left, right in
            left.value.millis == right.value.millis ? left.key.lexicographicallyPrecedes(right.key) : left.value.millis > right.value.millis
        }.map { (path: $0.key, sum: $0.value) }
    }

    /// The same with one sum for all children of a place that has too many. The root's are always told apart.
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
