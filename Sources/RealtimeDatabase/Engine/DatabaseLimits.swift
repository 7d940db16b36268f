/// The bounds of a database, and how it treats what it does not know. Settings of functions.json.
public struct DatabaseLimits: Sendable {
    /// The largest body of a write, in bytes.
    public var writeBytesMax = 256 * 1024 * 1024
    /// The largest answer to a read, in bytes.
    public var readBytesMax = 256 * 1024 * 1024
    /// The longest string, in bytes.
    public var stringBytesMax = 10 * 1024 * 1024
    /// The largest rules document, in bytes.
    public var rulesBytesMax = 1024 * 1024
    /// The most namespaces that are open at a time.
    public var namespacesMax = 256
    /// The most functions that one write may run; a write that would run more is refused.
    public var functionsPerWriteMax = 1000
    /// The largest event, in bytes of its two values; a write that would make a larger one is refused.
    public var eventBytesMax = 1024 * 1024
    /// Whether writes above the two limits before are refused. If not, more functions run, and larger events come without
    /// their values.
    public var refusesLargeEvents = true
    /// The longest chain of events that cause each other; 16 unless configured.
    public var chainDepthMax = 16

    /// The defaults.
    public init() {}
}
