public import Store
import Synchronization

/// Namespaces in memory, which end with the process.
public final class MemoryStorage: StorageEngine {
    private let opened = Mutex(Opened())

    private struct Opened {
        var namespaces: [String: MemoryNamespace] = [:]
        var writers: Set<String> = []
    }

    /// Creates a storage without namespaces.
    public init() {}

    public func openWriter(namespace: String) throws(StoreError) -> any OrderedStore {
        try NamespaceName.check(namespace)
        let found = try opened.withLock { opened throws(StoreError) in
            guard opened.writers.insert(namespace).inserted else {
                throw StoreError(.busy, "the namespace \(namespace) has a writer already")
            }
            let found = opened.namespaces[namespace] ?? MemoryNamespace()
            opened.namespaces[namespace] = found
            return found
        }
        let claim = WriterClaim { [weak self] in
            self?.opened.withLock { _ = $0.writers.remove(namespace) }
        }
        return MemoryWriter(found, claim)
    }

    public func openReader(namespace: String) throws(StoreError) -> sending any SnapshotStore {
        try NamespaceName.check(namespace)
        guard let found = opened.withLock({ $0.namespaces[namespace] }) else {
            throw StoreError(.notFound, "there is no namespace \(namespace)")
        }
        return MemoryReader(found)
    }

    public func namespaces() -> [String] {
        opened.withLock { $0.namespaces.keys.sorted() }
    }

    public func exists(namespace: String) -> Bool {
        opened.withLock { $0.namespaces[namespace] != nil }
    }

    /// Always true: opening needs no room.
    public var canReopen: Bool { true }

    /// Always false: memory cannot be passed to another process.
    public var canChangeHands: Bool { false }

    /// Does nothing, because no other process can write here.
    public func hold() {}

    public func letGo() {}

    public func deleteNamespace(_ namespace: String) throws(StoreError) {
        try NamespaceName.check(namespace)
        try opened.withLock { opened throws(StoreError) in
            guard !opened.writers.contains(namespace) else { throw StoreError(.busy, "the namespace \(namespace) has a writer") }
            opened.namespaces[namespace] = nil
        }
    }
}

/// The maps of all keyspaces at one moment.
// Unchecked: copies share pages, and shared pages are copied before they are changed.
struct MemoryState: @unchecked Sendable {
    var maps = Array(repeating: SortedMap(), count: Keyspace.allCases.count)
}

/// The last committed state, which the writer and the readers of a namespace share.
final class MemoryNamespace: Sendable {
    private let committed = Mutex(MemoryState())

    var state: MemoryState {
        get { committed.withLock { $0 } }
        set {
            // Memory that is no longer needed is freed outside of the lock.
            let old = committed.withLock { state in
                let old = state
                state = newValue
                return old
            }
            _ = consume old
        }
    }
}

/// The writer of a namespace in memory. Uncommitted changes are visible to it only.
final class MemoryWriter: OrderedStore {
    private let namespace: MemoryNamespace
    private let claim: WriterClaim
    private var state: MemoryState
    private(set) var isInTransaction = false

    init(_ namespace: MemoryNamespace, _ claim: WriterClaim) {
        self.namespace = namespace
        self.claim = claim
        state = namespace.state
    }

    func get<R>(_ key: [UInt8], in space: Keyspace, _ body: (Span<UInt8>) -> R) -> R? {
        guard let value = state.maps[space.rawValue][key] else { return nil }
        return body(value.span)
    }

    func scan(
        _ space: Keyspace, from lower: [UInt8], to upper: [UInt8], reversed: Bool,
        _ body: (_ key: Span<UInt8>, _ value: Span<UInt8>) -> ScanStep
    ) {
        // A copy, which does not change when `body` writes.
        let map = state.maps[space.rawValue]
        map.scan(from: lower, to: upper, reversed: reversed, body)
    }

    func begin() throws(StoreError) {
        guard !isInTransaction else { throw StoreError(.other, "there is a transaction already") }
        isInTransaction = true
    }

    func commit() throws(StoreError) {
        try requireTransaction()
        isInTransaction = false
        namespace.state = state
    }

    func rollback() {
        guard isInTransaction else { return }
        isInTransaction = false
        state = namespace.state
    }

    func put(_ key: [UInt8], _ value: Span<UInt8>, in space: Keyspace) throws(StoreError) {
        try requireTransaction()
        state.maps[space.rawValue].put(key, value.withUnsafeBufferPointer { [UInt8]($0) })
    }

    @discardableResult
    func delete(_ key: [UInt8], in space: Keyspace) throws(StoreError) -> Bool {
        try requireTransaction()
        return state.maps[space.rawValue].delete(key)
    }

    @discardableResult
    func deleteRange(_ lower: [UInt8], _ upper: [UInt8], in space: Keyspace, limit: Int?) throws(StoreError) -> Int {
        try requireTransaction()
        guard limit ?? 1 > 0 else { return 0 }
        var keys: [[UInt8]] = []
        state.maps[space.rawValue].scan(from: lower, to: upper, reversed: false) { key, _ in
            keys.append(key.withUnsafeBufferPointer { [UInt8]($0) })
            return keys.count == limit ? .stop : .next
        }
        for key in keys { _ = state.maps[space.rawValue].delete(key) }
        return keys.count
    }

    func checkpoint(_ occasion: CheckpointOccasion) -> CheckpointReport { CheckpointReport() }

    func emptyLog() -> Bool { true }

    var sizeBytes: Int { state.maps.reduce(0) { $0 + $1.sizeBytes } }

    private func requireTransaction() throws(StoreError) {
        guard isInTransaction else { throw StoreError(.other, "there is no transaction") }
    }
}

/// A reader of a namespace in memory.
final class MemoryReader: SnapshotStore {
    private let namespace: MemoryNamespace
    private var snapshot: MemoryState?
    var isFrugal = false

    func neverWait() {}

    init(_ namespace: MemoryNamespace) {
        self.namespace = namespace
    }

    func beginSnapshot() { snapshot = namespace.state }

    func endSnapshot() { snapshot = nil }

    func get<R>(_ key: [UInt8], in space: Keyspace, _ body: (Span<UInt8>) -> R) -> R? {
        guard let value = (snapshot ?? namespace.state).maps[space.rawValue][key] else { return nil }
        return body(value.span)
    }

    func scan(
        _ space: Keyspace, from lower: [UInt8], to upper: [UInt8], reversed: Bool,
        _ body: (_ key: Span<UInt8>, _ value: Span<UInt8>) -> ScanStep
    ) {
        (snapshot ?? namespace.state).maps[space.rawValue].scan(from: lower, to: upper, reversed: reversed, body)
    }
}
