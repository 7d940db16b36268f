public import EventLoop
public import Tree

/// One read of the newest committed state.
public struct ReadRequest: Sendable {
    /// What of the node is wanted.
    public enum Kind: Sendable {
        /// All of it.
        case value
        /// Its children's names, each `true`; a leaf's value. In key order, from after `startAfter`.
        case shallow(limit: Int?, startAfter: String?)
        /// The children that a query selects.
        case query(Query)
        /// Its priority.
        case priority
    }

    /// The node that is read.
    public var path: Path
    /// How much of it is read.
    public var kind: Kind
    /// On whose behalf.
    public var principal: Principal
    /// How the value is written.
    public var form = JSONForm.value
    /// Whether it is indented.
    public var isPretty = false
    /// Whether the outcome has the node's etag.
    public var wantsETag = false
    /// The etag that the client has already: answered ``ReadOutcome/notModified(etag:)`` when it is still right.
    public var ifNoneMatch: String?
    /// The largest answer, in bytes of JSON.
    public var bytesMax = 256 * 1024 * 1024
    /// When it must be answered, in nanoseconds of `CLOCK_MONOTONIC`; 0 for never.
    public var deadline: UInt64 = 0
    /// Whose it is, where turns are taken.
    public var client = NetworkAddress.unspecified
    /// Set when nobody waits for it any more; nil where nobody says so.
    public var cancellation: Cancellation?
    /// Whether a refusal says which rules were asked. For administrators and tests: it shows the rules.
    public var explains = false
    /// What the profiler calls it; nil where it is not told of it.
    public var profiledAs: OperationName?

    /// Whether it may look at many rows before it has anything to answer.
    var mayTakeLong: Bool {
        if wantsETag || ifNoneMatch != nil { return true }
        switch kind {
        case .query, .shallow: return true
        case .value, .priority: return false
        }
    }

    /// The query, where this is one.
    var query: Query? {
        if case .query(let query) = kind { return query }
        return nil
    }

    /// A read that nothing is unusual about.
    public init(_ path: Path, _ kind: Kind = .value, principal: Principal) {
        self.path = path
        self.kind = kind
        self.principal = principal
    }
}

/// The verdict of the rules on an open stream.
struct ReadPermission: Sendable {
    var isAllowed: Bool
    /// The state in which that was found.
    var commit: UInt64
    /// Whether it may change with data and time, and not only with the rules.
    var dependsOnState: Bool
}

/// What a read found.
public enum ReadOutcome: Sendable {
    /// The JSON, as it was at a commit.
    case value(json: [UInt8], etag: String?, commit: UInt64)
    /// More than fits one piece: the rest follows on demand.
    case stream(ValueStream)
    /// The client has it already.
    case notModified(etag: String)
    /// Nothing is told.
    case refused(DatabaseError)
}
