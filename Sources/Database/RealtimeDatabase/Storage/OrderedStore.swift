/// One of the ordered maps from bytes to bytes that a namespace has.
public enum Keyspace: Int, CaseIterable, Sendable {
    /// Leaves and priorities.
    case tree
    /// Entries of the declared indexes.
    case index
    /// Events that wait for their function.
    case outbox
    /// Events whose function failed for good.
    case deadLetters
    /// What the namespace knows about itself.
    case meta
}

/// How a scan goes on after a row.
public enum ScanStep: Sendable {
    /// With the next row.
    case next
    /// Not at all.
    case stop
    /// At the first key from this one on; reversed, at the last key up to this one. Never back: a key that the scan has
    /// passed is the same as `next`. Never out of the range that the scan was given.
    case seek([UInt8])
}

/// Ordered maps that can be read. Keys are compared byte by byte, and a key sorts before its own continuations.
///
/// Belongs to one thread. Reads may be nested in the bodies of others. What is handed to a body is good until it returns.
public protocol ReadableStore: AnyObject {
    /// Hands the value of `key` to `body`; nil when there is none.
    func get<R>(_ key: [UInt8], in space: Keyspace, _ body: (Span<UInt8>) -> R) throws(StoreError) -> R?

    /// Hands keys and values from `lower` to below `upper` to `body`, in the order of the keys or in the opposite one.
    ///
    /// An empty `upper` is no bound. Whether rows that are written while the scan runs are met is not said; the scan goes
    /// on after them in any case.
    func scan(
        _ space: Keyspace, from lower: [UInt8], to upper: [UInt8], reversed: Bool,
        _ body: (_ key: Span<UInt8>, _ value: Span<UInt8>) -> ScanStep
    ) throws(StoreError)
}

/// The store of a namespace as its one writer sees it.
///
/// Outside of a transaction it reads what was committed last, inside what it has written itself. An error of a method that
/// writes ends the transaction: all of it is undone, and the next `begin` starts afresh.
public protocol OrderedStore: ReadableStore {
    /// Whether a transaction is open.
    var isInTransaction: Bool { get }

    /// Opens a transaction. There is one at a time.
    func begin() throws(StoreError)

    /// Ends the transaction. When it returns, what was written is on the disk and seen by new snapshots.
    func commit() throws(StoreError)

    /// Undoes the transaction. Does nothing without one, and never fails.
    func rollback()

    /// Sets the value of `key`.
    func put(_ key: [UInt8], _ value: Span<UInt8>, in space: Keyspace) throws(StoreError)

    /// Removes `key`; whether it was there.
    @discardableResult
    func delete(_ key: [UInt8], in space: Keyspace) throws(StoreError) -> Bool

    /// Removes the keys from `lower` to below `upper` (empty: no bound), at most the first `limit`; how many there were.
    @discardableResult
    func deleteRange(_ lower: [UInt8], _ upper: [UInt8], in space: Keyspace, limit: Int?) throws(StoreError) -> Int

    /// Does the upkeep that commits leave behind, when it is time for it; call it after each commit with `.committed`, and
    /// with `.idle` when there was nothing to write for a while. Not inside of a transaction.
    func checkpoint(_ occasion: CheckpointOccasion) throws(StoreError) -> CheckpointReport

    /// Empties the log of changes, whatever time that takes; false where a snapshot is in the way. Not inside of a transaction.
    func emptyLog() throws(StoreError) -> Bool

    /// What the namespace takes on the disk, or in memory.
    var sizeBytes: Int { get }
}

/// The store of a namespace as it was at one moment.
public protocol SnapshotStore: ReadableStore {
    /// Takes a snapshot: until it ends, reads see what was committed when this returned, and nothing later. Not nested.
    func beginSnapshot() throws(StoreError)

    /// Gives the snapshot up. Without one, each read sees what was committed last.
    func endSnapshot()

    /// Whether it keeps little in memory: it reads a long answer from one end to the other, and many others may do so, too.
    var isFrugal: Bool { get set }
}

/// Why `OrderedStore.checkpoint` is called.
public enum CheckpointOccasion: Sendable {
    /// A transaction was committed, and more may be waiting.
    case committed
    /// Nobody is waiting.
    case idle
}

/// What `OrderedStore.checkpoint` found and did.
public struct CheckpointReport: Sendable, Hashable {
    /// What the log of changes takes.
    public var logBytes = 0
    /// That part of the log which is not in the database file yet.
    public var pendingBytes = 0
    /// Whether a snapshot that does not end makes the log grow without bound. A reason for a line in the host's log.
    public var isHeldBack = false

    /// Nothing was found: what a store without a log reports.
    public init() {}
}
