/// The limits of the dead letters of a namespace.
public struct DeadLetterLimits: Sendable, Hashable {
    /// The maximum number.
    public var countMax = 10_000
    /// The maximum total size. A single one may be larger.
    public var bytesMax = 256 << 20

    /// The defaults.
    public init() {}

    func areExceeded(by counts: OutboxCounts) -> Bool {
        counts.deadLetters > 1 && (counts.deadLetters > countMax || counts.deadLetterBytes > bytesMax)
    }
}
