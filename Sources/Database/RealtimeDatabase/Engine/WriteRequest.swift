public import EventLoop
public import HTTP
public import Tree

/// One write, all of it or nothing.
public struct WriteRequest: Sendable {
    /// What is written.
    public enum Operation: Sendable {
        /// Replaces the subtree at a path; an empty draft deletes it.
        case set(Path, Draft)
        /// Replaces each named subtree below a path.
        case update(base: Path, UpdateDraft)
        /// Replaces the priority of what is at a path; an empty draft removes it. Does nothing where there is no node.
        case setPriority(Path, Draft)

        /// The written path, or the one that an update's members are below.
        public var path: Path {
            switch self {
            case .set(let path, _), .update(let path, _), .setPriority(let path, _): path
            }
        }
    }

    /// What is written, and where.
    public var operation: Operation
    /// On whose behalf.
    public var principal: Principal
    /// The etag that the node at the path must have for the write to happen; nil for any.
    public var ifMatch: String?
    /// Whether the receipt has the etag of what was written, if the writer may know it. Not for an update.
    public var wantsETag = false
    /// Whether the receipt has what was written, with server values resolved, if the writer may know it. Not for an update.
    public var wantsValue = false
    /// Whether functions run because of it.
    public var raisesTriggers = true
    /// Who writes, as the events of this write say it.
    public var origin: EventOrigin
    /// The events that led to this write, for a write of a function that runs because of one.
    public var chain: EventChain
    /// What the write is a part of; its events go on with it.
    public var trace: TraceContext?
    /// Whose it is, where turns are taken.
    public var client = NetworkAddress.unspecified
    /// Set when nobody waits for it any more; nil where nobody says so. A write that was not begun then is not done.
    public var cancellation: Cancellation?
    /// Whether a refusal says which rules were asked. For administrators and tests: it shows the rules.
    public var explains = false
    /// What the profiler calls it; nil where it is not told of it.
    public var profiledAs: OperationName?
    /// How long the JSON is that is written, for the profiler.
    public var bytes = 0

    /// Whether its outcome would tell something of what was stored before: whether an etag fits, or what a number has become.
    var revealsStored: Bool {
        if ifMatch != nil { return true }
        guard wantsValue || wantsETag, case .set(_, let draft) = operation else { return false }
        return draft.readsStored
    }

    /// A write that nothing is unusual about.
    public init(_ operation: Operation, principal: Principal, origin: EventOrigin, chain: EventChain = EventChain()) {
        self.operation = operation
        self.principal = principal
        self.origin = origin
        self.chain = chain
    }
}

/// What became of a write.
public enum WriteOutcome: Sendable {
    /// Durable.
    case committed(WriteReceipt)
    /// The node has another etag than ``WriteRequest/ifMatch``; nothing was written. The current value, as JSON, and its etag.
    case conflict(value: [UInt8], etag: String)
    /// Nothing was written.
    case refused(DatabaseError)
}

/// What is known of a committed write.
public struct WriteReceipt: Sendable {
    /// The number of the transaction that it is part of; rises with every one of the namespace's.
    public var commit: UInt64
    /// The written value, if requested and if the writer may read it.
    public var value: Node?
    /// The etag of the written value, if requested and if the writer may read it.
    public var etag: String?
}
