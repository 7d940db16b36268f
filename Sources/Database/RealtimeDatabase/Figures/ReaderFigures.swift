/// The metrics of a namespace's reader: plain numbers, used on its thread only.
public struct ReaderFigures: Sendable {
    /// The kind of read.
    public enum Kind: Int, CaseIterable, Sendable {
        case value, query, shallow, priority
    }

    /// The outcome of a read.
    public enum Outcome: Int, CaseIterable, Sendable {
        case answered, notModified, refused
    }

    private var reads = InlineArray<12, Int>(repeating: 0)
    /// The number of JSON bytes in all results.
    public internal(set) var bytes = 0

    /// Creates metrics without any reads.
    public init() {}

    /// The number of reads by kind and outcome.
    public func count(_ kind: Kind, _ outcome: Outcome) -> Int { reads[kind.rawValue * 3 + outcome.rawValue] }

    mutating func add(_ kind: Kind, _ outcome: Outcome, bytes: Int) {
        reads[kind.rawValue * 3 + outcome.rawValue] += 1
        self.bytes += bytes
    }

    /// Adds the metrics of another namespace.
    public mutating func merge(_ other: ReaderFigures) {
        for index in reads.indices { reads[index] += other.reads[index] }
        bytes += other.bytes
    }
}
