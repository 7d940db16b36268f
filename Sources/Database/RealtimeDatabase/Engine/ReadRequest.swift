public import EventLoop
public import Tree

/// A read of the newest committed state.
public struct ReadRequest: Sendable {
    /// The part of the node to read.
    public enum Kind: Sendable {
        /// The whole value.
        case value
        /// The keys of the children, each with the value `true`, or the value of a leaf. In key order, after the key `startAfter`.
        case shallow(limit: Int?, startAfter: String?)
        /// The children that a query selects.
        case query(Query)
        /// The priority.
        case priority
    }

    /// The path of the node.
    public var path: Path
    /// The part of the node to read.
    public var kind: Kind
    /// The principal of the read.
    public var principal: Principal
    /// The form of the value.
    public var form = JSONForm.value
    /// Whether the JSON is indented.
    public var isPretty = false
    /// Whether the outcome contains the node's etag.
    public var wantsETag = false
    /// The etag that the client already has. If it is still valid, the outcome is ``ReadOutcome/notModified(etag:commit:)``.
    public var ifNoneMatch: String?
    /// The size limit of the answer, in bytes of JSON.
    public var bytesMax = 256 * 1024 * 1024
    /// The time limit, in nanoseconds of `CLOCK_MONOTONIC`; 0 for none.
    public var deadline: UInt64 = 0
    /// The client, for taking turns.
    public var client = NetworkAddress.unspecified
    /// Whether it waits for its turn however many others wait. Its sender must limit their number.
    package var isPatient = false
    /// Set when the result is no longer needed; nil if that is never the case.
    public var cancellation: Cancellation?
    /// Whether a refusal contains the evaluated rules. For administrators and tests, because it reveals the rules.
    public var explains = false
    /// Whether the outcome of a query is ``ReadOutcome/node(_:commit:)``.
    var wantsNode = false
    /// Whether a query is answered even without the index that it needs, by looking at all children.
    package var mayLackIndex = false
    /// Whether a query that lacks its index is refused only to learn that: the same read follows, with ``mayLackIndex``. The profiler skips it.
    package var probesIndex = false
    /// The ranges of the value that the client has; nil for none. The answer is then a list of the parts that differ, as clients merge them, or the
    /// value: values in export form are never lists. If nothing differs, the outcome is ``ReadOutcome/notModified(etag:commit:)``.
    package var clientRanges: RangeHashes?
    /// The name of the operation in the profiler; nil if it is not recorded.
    public var profiledAs: OperationName?

    /// Whether many rows may have to be read before the answer begins.
    package var mayTakeLong: Bool {
        if wantsETag || ifNoneMatch != nil || clientRanges != nil { return true }
        switch kind {
        case .query, .shallow: return true
        case .value, .priority: return false
        }
    }

    /// Whether it may be enough to look a single value up.
    var mayBePoint: Bool {
        if case .value = kind, form == .value { return !mayTakeLong }
        return false
    }

    /// The query, if the read has one.
    var query: Query? {
        if case .query(let query) = kind { return query }
        return nil
    }

    /// Creates a read with the usual settings.
    public init(_ path: Path, _ kind: Kind = .value, principal: Principal) {
        self.path = path
        self.kind = kind
        self.principal = principal
    }
}

/// The verdict of the rules on a listener.
package struct ReadPermission: Sendable {
    package var isAllowed: Bool
    /// The state in which it was judged.
    package var commit: UInt64
    /// How long it holds.
    package var duration: Duration

    /// The time for which a verdict holds.
    package enum Duration: Sendable {
        /// As long as the rules and the token.
        case always
        /// As long as these places do not change.
        case untilChange(of: [WatchedPlace])
        /// Only for the state in which it was judged, because the rules use the time or look at too many places.
        case once
    }
}

/// The outcome of a read.
public enum ReadOutcome: Sendable {
    /// The JSON in the state of a commit.
    case value(json: [UInt8], etag: String?, commit: UInt64)
    /// The first piece of a long answer. The rest follows on request.
    case stream(ValueStream)
    /// The children that a query selects, if the request wants them in this form.
    case node(Node, commit: UInt64)
    /// The client already has the value, in the state of a commit.
    case notModified(etag: String, commit: UInt64)
    /// The read was refused.
    case refused(DatabaseError)
}
