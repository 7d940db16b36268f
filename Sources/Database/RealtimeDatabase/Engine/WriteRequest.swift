public import EventLoop
public import HTTP
public import Tree

/// A write, which is performed completely or not at all.
public struct WriteRequest: Sendable {
    /// The kinds of writes.
    public enum Operation: Sendable {
        /// Replaces the subtree at a path. An empty draft deletes it.
        case set(Path, Draft)
        /// Replaces each of the given subtrees below a path.
        case update(base: Path, UpdateDraft)
        /// Replaces the priority of the node at a path. An empty draft removes it. Does nothing if there is no node.
        case setPriority(Path, Draft)

        /// The written path, or the base path of an update.
        public var path: Path {
            switch self {
            case .set(let path, _), .update(let path, _), .setPriority(let path, _): path
            }
        }
    }

    /// The kind of write, with path and data.
    public var operation: Operation
    /// The principal of the write.
    public var principal: Principal
    /// The etag that the node must have; nil for any.
    public var ifMatch: String?
    /// Whether a conflict contains the current value. Otherwise it may also be reported for a large node that other writes change all the time.
    public var wantsConflictingValue = true
    /// Whether the receipt contains the etag of the written value, if the writer may know it. Not for updates.
    public var wantsETag = false
    /// Whether the receipt contains the written value, with server values resolved, if the writer may know it. Not for updates.
    public var wantsValue = false
    /// Whether the write triggers functions.
    public var raisesTriggers = true
    /// The writer in the events of the write.
    public var origin: EventOrigin
    /// The events that led to this write, if a triggered function performs it.
    public var chain: EventChain
    /// The trace context, which the events of the write continue.
    public var trace: TraceContext?
    /// The client, for taking turns.
    public var client = NetworkAddress.unspecified
    /// The sender of a transaction, which tries again after a conflict; nil for others. See ``Contest``.
    package var contender: ObjectIdentifier?
    /// Set when the result is no longer needed; nil if that is never the case. A write that has not begun then is not performed.
    public var cancellation: Cancellation?
    /// Performs the write unless one with the same key was committed before; nil performs it always. The key is stored in the same transaction.
    public var once: OnceKey?
    /// Whether a refusal contains the evaluated rules. For administrators and tests, because it reveals the rules.
    public var explains = false
    /// The name of the operation in the profiler; nil if it is not recorded.
    public var profiledAs: OperationName?
    /// The size of the written JSON, for the profiler.
    public var bytes = 0

    /// Whether the outcome would reveal stored data, by comparing an etag or incrementing a number.
    var revealsStored: Bool {
        if ifMatch != nil { return true }
        guard wantsValue || wantsETag, case .set(_, let draft) = operation else { return false }
        return draft.readsStored
    }

    /// Creates a write with the usual settings.
    public init(_ operation: Operation, principal: Principal, origin: EventOrigin, chain: EventChain = EventChain()) {
        self.operation = operation
        self.principal = principal
        self.origin = origin
        self.chain = chain
    }
}

/// The outcome of a write.
public enum WriteOutcome: Sendable {
    /// The write is durable.
    case committed(WriteReceipt)
    /// The node has another etag than ``WriteRequest/ifMatch``. Nothing was written. Contains the current value, as JSON, and its etag, if they
    /// are wanted.
    case conflict(value: [UInt8], etag: String)
    /// Nothing was written.
    case refused(DatabaseError)
}

/// The facts about a committed write.
public struct WriteReceipt: Sendable {
    /// The number of its transaction, in ascending order for each namespace.
    public var commit: UInt64
    /// The written value, if requested and if the writer may read it.
    public var value: Node?
    /// The etag of the written value, if requested and if the writer may read it.
    public var etag: String?
    /// Whether nothing was written, because an earlier write had the same ``WriteRequest/once``.
    public var isRepetition = false
}
