/// What the reader of a namespace counts: plain numbers, on its thread only.
public struct ReaderFigures: Sendable {
    /// What was asked for.
    public enum Kind: Int, CaseIterable, Sendable {
        case value, query, shallow, priority

        init(_ kind: ReadRequest.Kind) {
            self =
                switch kind {
                case .value: .value
                case .query: .query
                case .shallow: .shallow
                case .priority: .priority
                }
        }
    }

    /// What came of it.
    public enum Outcome: Int, CaseIterable, Sendable {
        case answered, notModified, refused
    }

    private var reads = InlineArray<12, Int>(repeating: 0)
    /// Bytes of the JSON that reads came to.
    public internal(set) var bytes = 0

    /// Nothing was read yet.
    public init() {}

    /// How many reads of a kind came to this.
    public func count(_ kind: Kind, _ outcome: Outcome) -> Int { reads[kind.rawValue * 3 + outcome.rawValue] }

    mutating func add(_ kind: ReadRequest.Kind, _ outcome: ReadOutcome) {
        let result: Outcome
        switch outcome {
        case .value(let json, _, _):
            bytes += json.count
            result = .answered
        case .stream(let stream):
            bytes += stream.first.count
            result = .answered
        case .notModified: result = .notModified
        case .refused: result = .refused
        }
        reads[Kind(kind).rawValue * 3 + result.rawValue] += 1
    }

    /// Adds another namespace's.
    public mutating func merge(_ other: ReaderFigures) {
        for index in reads.indices { reads[index] += other.reads[index] }
        bytes += other.bytes
    }
}
