/// How many things come together, in buckets of powers of two from 1 to 4096.
public struct SizeHistogram: Sendable, Histogram {
    private var counts = InlineArray<14, UInt64>(repeating: 0)
    private var total: UInt64 = 0

    /// Nothing was recorded yet.
    public init() {}

    /// Counts so many things that came together.
    public mutating func record(_ size: Int) {
        let bucket = size <= 1 ? 0 : Int.bitWidth - (size - 1).leadingZeroBitCount
        counts[min(bucket, 13)] &+= 1
        total &+= UInt64(max(0, size))
    }

    public static let bounds = (0..<13).map { "\(1 << $0)" }

    /// Adds what another one has counted.
    public mutating func merge(_ other: SizeHistogram) {
        for index in counts.indices { counts[index] &+= other.counts[index] }
        total &+= other.total
    }

    public func bucketCount(_ index: Int) -> UInt64 { counts[index] }

    public var sum: Double { Double(total) }
}
