public import Rules

/// The limits of a database, from the settings in functions.json.
public struct DatabaseLimits: Sendable {
    /// The size limit of a write's body, in bytes.
    public var writeBytesMax = 256 * 1024 * 1024
    /// The size limit of a read's answer, in bytes.
    public var readBytesMax = 256 * 1024 * 1024
    /// The size limit of a string, in bytes.
    public var stringBytesMax = 10 * 1024 * 1024
    /// The limits of rules documents and of their evaluation.
    public var rules = RuleLimits()
    /// The most open namespaces. Another one replaces an unused one, or is refused if all are in use.
    public var namespacesMax = 256
    /// The most threads of a namespace for quick reads, and the most for reads that may take long.
    public var readersMax = 2
    /// The most event streams of one loop. More are refused.
    public var streamsMax = 10_000
    /// The most event streams of one namespace on all loops. More are refused.
    public var streamsPerNamespaceMax = 100_000
    /// The memory of one loop for large bodies, in bytes. More are refused.
    public var bodyBytesInFlightMax = 512 * 1024 * 1024
    /// The most answers of a namespace that are being read in several pieces. More are refused.
    public var longReadsMax = 256
    /// The most of them for one client address, in all namespaces.
    public var longReadsPerClientMax = 32
    /// The time in which such an answer must be read, unless an administrator requested it.
    public var readSeconds = 900.0
    /// The size limit of a namespace's log of changes, in bytes. Above it, answers that keep the log from being emptied are cut off.
    public var logBytesMax = 512 << 20
    /// The memory for the results of queries that clients listen to, in bytes, in all namespaces. A quarter is the most for one query. Larger results
    /// are read again after each change.
    public var viewBytesMax = 64 << 20
    /// The limits of the events of one write.
    public var triggers = TriggerLimits()

    /// The limits of writes that wait until the functions are known.
    public var heldWrites = HeldWriteLimits()

    /// The defaults.
    public init() {}
}

/// The limits of a namespace's writes that wait until the functions that they trigger are known.
public struct HeldWriteLimits: Sendable {
    /// The time after which a waiting write is refused. Loading a plugin takes at most ten seconds.
    public var milliseconds: UInt64 = 15_000
    /// The most waiting writes. More are refused.
    public var countMax = 10_000
    /// The size limit of their JSON. More are refused, but a single one may be larger.
    public var bytesMax = 64 << 20

    /// The defaults.
    public init() {}
}
