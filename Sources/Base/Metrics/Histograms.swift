/// A histogram of durations, in buckets from 0.1 ms to a minute. Recording costs a few comparisons and two additions.
public struct DurationHistogram: Sendable, Histogram {
    /// The counts of the buckets, not cumulative.
    private var counts = InlineArray<19, UInt64>(repeating: 0)
    private var sumNanoseconds: UInt64 = 0

    /// An empty histogram.
    public init() {}

    /// Records one duration.
    @inlinable
    public mutating func record(nanoseconds: UInt64) { add(1, bucket: Self.bucket(of: nanoseconds), nanoseconds: nanoseconds) }

    /// Records `count` durations of zero.
    public mutating func record(immediate count: UInt64) { add(count, bucket: 0, nanoseconds: 0) }

    @usableFromInline
    mutating func add(_ count: UInt64, bucket: Int, nanoseconds: UInt64) {
        counts[bucket] &+= count
        sumNanoseconds &+= nanoseconds
    }

    /// The buckets' upper bounds as text, in seconds; the last bucket has none.
    public static let bounds = [
        "0.0001", "0.00025", "0.0005", "0.001", "0.0025", "0.005", "0.01", "0.025", "0.05", "0.1", "0.25", "0.5", "1", "2.5", "5", "10",
        "30", "60",
    ]

    /// Most durations are short, so the first comparisons decide.
    @usableFromInline
    static func bucket(of nanoseconds: UInt64) -> Int {
        if nanoseconds <= 1_000_000 {
            return nanoseconds <= 100_000 ? 0 : nanoseconds <= 250_000 ? 1 : nanoseconds <= 500_000 ? 2 : 3
        }
        if nanoseconds <= 50_000_000 {
            if nanoseconds <= 5_000_000 { return nanoseconds <= 2_500_000 ? 4 : 5 }
            return nanoseconds <= 10_000_000 ? 6 : nanoseconds <= 25_000_000 ? 7 : 8
        }
        if nanoseconds <= 1_000_000_000 {
            if nanoseconds <= 250_000_000 { return nanoseconds <= 100_000_000 ? 9 : 10 }
            return nanoseconds <= 500_000_000 ? 11 : 12
        }
        if nanoseconds <= 10_000_000_000 { return nanoseconds <= 2_500_000_000 ? 13 : nanoseconds <= 5_000_000_000 ? 14 : 15 }
        return nanoseconds <= 30_000_000_000 ? 16 : nanoseconds <= 60_000_000_000 ? 17 : 18
    }

    /// The number of recorded values.
    public var count: UInt64 {
        var sum: UInt64 = 0
        for index in counts.indices { sum += counts[index] }
        return sum
    }

    /// Adds the counts of another histogram.
    public mutating func merge(_ other: DurationHistogram) {
        for index in counts.indices { counts[index] &+= other.counts[index] }
        sumNanoseconds &+= other.sumNanoseconds
    }

    public func bucketCount(_ index: Int) -> UInt64 { counts[index] }

    /// The sum in seconds.
    public var sum: Double { Double(sumNanoseconds) / 1_000_000_000 }
}

/// A histogram.
public protocol Histogram {
    /// The upper bounds of the buckets as text; one more bucket has none.
    static var bounds: [String] { get }
    /// The count of one bucket, not cumulative.
    func bucketCount(_ index: Int) -> UInt64
    /// The sum of all values.
    var sum: Double { get }
}

/// A histogram of batch sizes, in buckets of powers of two from 1 to 4096.
public struct SizeHistogram: Sendable, Histogram {
    private var counts = InlineArray<14, UInt64>(repeating: 0)
    private var total: UInt64 = 0

    /// An empty histogram.
    public init() {}

    /// Records one size.
    public mutating func record(_ size: Int) {
        let bucket = size <= 1 ? 0 : Int.bitWidth - (size - 1).leadingZeroBitCount
        counts[min(bucket, 13)] &+= 1
        total &+= UInt64(max(0, size))
    }

    public static let bounds = (0..<13).map { "\(1 << $0)" }

    /// Adds the counts of another histogram.
    public mutating func merge(_ other: SizeHistogram) {
        for index in counts.indices { counts[index] &+= other.counts[index] }
        total &+= other.total
    }

    public func bucketCount(_ index: Int) -> UInt64 { counts[index] }

    public var sum: Double { Double(total) }
}
