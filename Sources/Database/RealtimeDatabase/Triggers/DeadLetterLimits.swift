/// How many dead letters a namespace keeps.
public struct DeadLetterLimits: Sendable, Hashable {
    /// So many at most.
    public var countMax = 10_000
    /// What they take at most; one may take more.
    public var bytesMax = 256 << 20

    /// The defaults.
    public init() {}

    func areExceeded(by counts: OutboxCounts) -> Bool {
        counts.deadLetters > 1 && (counts.deadLetters > countMax || counts.deadLetterBytes > bytesMax)
    }
}
