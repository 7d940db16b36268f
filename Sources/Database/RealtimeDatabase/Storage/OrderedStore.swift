public import Store

/// One of the ordered maps from bytes to bytes in a namespace.
public enum Keyspace: Int, CaseIterable, Sendable {
    /// Leaves and priorities.
    case tree
    /// Entries of the declared indexes.
    case index
    /// Events that wait for their functions.
    case outbox
    /// Events whose functions have failed permanently.
    case deadLetters
    /// Data about the namespace itself.
    case meta
}

/// How a scan continues after a row.
public enum ScanStep: Sendable {
    /// With the next row.
    case next
    /// The scan ends.
    case stop
    /// At the first key that is not less than this one; in a reversed scan, at the last key that is not greater. For a key that the scan has
    /// already passed, the same as `next`. The scan never leaves its range.
    case seek([UInt8])
}

/// Readable ordered maps. Keys are compared bytewise, and a prefix sorts before longer keys.
///
/// Belongs to one thread. Reads may be nested in the bodies of other reads. The spans passed to a body are valid until it returns.
public protocol ReadableStore: AnyObject {
    /// Calls `body` with the value of `key`. Returns nil if there is none.
    func get<R>(_ key: [UInt8], in space: Keyspace, _ body: (Span<UInt8>) -> R) throws(StoreError) -> R?

    /// Calls `body` with the keys and values from `lower` to below `upper`, in ascending or reversed order.
    ///
    /// If `upper` is empty, there is no upper bound. Rows that are written during the scan may or may not be visited; the scan continues
    /// correctly in either case.
    func scan(
        _ space: Keyspace, from lower: [UInt8], to upper: [UInt8], reversed: Bool,
        _ body: (_ key: Span<UInt8>, _ value: Span<UInt8>) -> ScanStep
    ) throws(StoreError)
}

/// The store of a namespace for its only writer.
///
/// Reads see the last committed state and, within a transaction, its own changes. An error of a writing method rolls the whole transaction
/// back, and the next `begin` starts a new one.
public protocol OrderedStore: ReadableStore, TransactionalStore {
    /// Sets the value of `key`.
    func put(_ key: [UInt8], _ value: Span<UInt8>, in space: Keyspace) throws(StoreError)

    /// Removes `key`. Returns whether it existed.
    @discardableResult
    func delete(_ key: [UInt8], in space: Keyspace) throws(StoreError) -> Bool

    /// Removes the first `limit` keys from `lower` to below `upper` (no bound if empty). Returns the number of removed keys.
    @discardableResult
    func deleteRange(_ lower: [UInt8], _ upper: [UInt8], in space: Keyspace, limit: Int?) throws(StoreError) -> Int
}

/// The store of a namespace for reading from snapshots.
public protocol SnapshotStore: ReadableStore {
    /// Takes a snapshot. Until it ends, reads see exactly the state that was committed when this returned. Not nested.
    func beginSnapshot() throws(StoreError)

    /// Ends the snapshot. Without one, each read sees the last committed state.
    func endSnapshot()

    /// Makes reads fail where they would have to wait for another connection.
    func neverWait()

    /// Whether little is cached, because a long answer is read from start to end, as many others may be at the same time.
    var isFrugal: Bool { get set }
}
