public import Rules

/// The bounds of a database, and how it treats what it does not know. Settings of functions.json.
public struct DatabaseLimits: Sendable {
    /// The largest body of a write, in bytes.
    public var writeBytesMax = 256 * 1024 * 1024
    /// The largest answer to a read, in bytes.
    public var readBytesMax = 256 * 1024 * 1024
    /// The longest string, in bytes.
    public var stringBytesMax = 10 * 1024 * 1024
    /// What a rules document and its evaluation may take.
    public var rules = RuleLimits()
    /// The most namespaces that are open at a time. One more takes the place of one that nobody uses; while all are used, it is refused.
    public var namespacesMax = 256
    /// The most event streams of one loop; one more is refused.
    public var streamsMax = 10_000
    /// How many bytes of large bodies one loop takes in at a time; more are refused.
    public var bodyBytesInFlightMax = 512 * 1024 * 1024
    /// The most answers of more than one piece of a namespace that are being read at a time; one more is refused.
    public var longReadsMax = 256
    /// The most of them, of all namespaces, that go to one address.
    public var longReadsPerClientMax = 32
    /// For how long such an answer may be read, unless an administrator asked for it.
    public var readSeconds = 900.0
    /// The most bytes of a namespace's log of changes. Answers that keep it from being emptied are cut off then.
    public var logBytesMax = 512 << 20
    /// What one write may set off.
    public var triggers = TriggerLimits()

    /// Limits of writes that wait until the functions are known.
    public var heldWrites = HeldWriteLimits()

    /// The defaults.
    public init() {}
}

/// How many writes of a namespace wait, and for how long, until it is known which functions they run.
public struct HeldWriteLimits: Sendable {
    /// How long one waits before it is refused. Loading a plugin takes at most ten seconds.
    public var milliseconds: UInt64 = 15_000
    /// One more is refused.
    public var countMax = 10_000
    /// The length of the JSON that they write. One more is refused, unless it is the only one.
    public var bytesMax = 64 << 20

    /// The defaults.
    public init() {}
}
