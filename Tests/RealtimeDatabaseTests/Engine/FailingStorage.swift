import Store
import Synchronization

@testable import RealtimeDatabase

/// Storage that fails when it is told to, as a full disk does.
final class FailingStorage: StorageEngine {
    /// The operations that can fail.
    enum Step: Hashable {
        case openWriter, openReader, begin, put, commit, snapshot
    }

    private let inner: any StorageEngine
    private let failures = Mutex<[Step: StoreError.Kind]>([:])
    /// A part of the keys that cannot be read.
    private let unreadable = Mutex<[UInt8]>([])

    init(_ inner: any StorageEngine) { self.inner = inner }

    func fail(_ steps: Step..., with kind: StoreError.Kind = .full) {
        failures.withLock { failures in for step in steps { failures[step] = kind } }
    }

    /// Makes every read fail whose key contains this name.
    func failReads(of name: String) { unreadable.withLock { $0 = Array(name.utf8) } }

    func mend() {
        failures.withLock { $0 = [:] }
        unreadable.withLock { $0 = [] }
    }

    fileprivate func check(_ step: Step) throws(StoreError) {
        if let kind = failures.withLock({ $0[step] }) { throw StoreError(kind, "\(step) fails") }
    }

    fileprivate func check(key: [UInt8]) throws(StoreError) {
        let name = unreadable.withLock { $0 }
        guard !name.isEmpty, key.count >= name.count else { return }
        if (0...key.count - name.count).contains(where: { key[$0..<$0 + name.count].elementsEqual(name) }) {
            throw StoreError(.io, "reading fails")
        }
    }

    func openWriter(namespace: String) throws(StoreError) -> any OrderedStore {
        try check(.openWriter)
        return FailingWriter(try inner.openWriter(namespace: namespace), self)
    }

    func openReader(namespace: String) throws(StoreError) -> sending any SnapshotStore {
        try check(.openReader)
        return FailingReader(try inner.openReader(namespace: namespace), self)
    }

    func namespaces() throws(StoreError) -> [String] { try inner.namespaces() }
    func exists(namespace: String) -> Bool { inner.exists(namespace: namespace) }
    func deleteNamespace(_ namespace: String) throws(StoreError) { try inner.deleteNamespace(namespace) }

    var canReopen: Bool { failures.withLock { $0[.openWriter] == nil } && inner.canReopen }

    var canChangeHands: Bool { inner.canChangeHands }

    func hold() throws(StoreError) { try inner.hold() }

    func letGo() { inner.letGo() }
}

private final class FailingWriter: OrderedStore {
    private let inner: any OrderedStore
    private let storage: FailingStorage

    init(_ inner: any OrderedStore, _ storage: FailingStorage) {
        self.inner = inner
        self.storage = storage
    }

    private func check(_ step: FailingStorage.Step) throws(StoreError) {
        do throws(StoreError) { try storage.check(step) } catch {
            inner.rollback()
            throw error
        }
    }

    func get<R>(_ key: [UInt8], in space: Keyspace, _ body: (Span<UInt8>) -> R) throws(StoreError) -> R? {
        try storage.check(key: key)
        return try inner.get(key, in: space, body)
    }

    func scan(
        _ space: Keyspace, from lower: [UInt8], to upper: [UInt8], reversed: Bool, _ body: (Span<UInt8>, Span<UInt8>) -> ScanStep
    ) throws(StoreError) {
        try storage.check(key: lower)
        try inner.scan(space, from: lower, to: upper, reversed: reversed, body)
    }

    var isInTransaction: Bool { inner.isInTransaction }
    var sizeBytes: Int { inner.sizeBytes }

    func begin() throws(StoreError) {
        try check(.begin)
        try inner.begin()
    }

    func commit() throws(StoreError) {
        try check(.commit)
        try inner.commit()
    }

    func rollback() { inner.rollback() }

    func put(_ key: [UInt8], _ value: Span<UInt8>, in space: Keyspace) throws(StoreError) {
        try check(.put)
        try inner.put(key, value, in: space)
    }

    func delete(_ key: [UInt8], in space: Keyspace) throws(StoreError) -> Bool { try inner.delete(key, in: space) }

    func deleteRange(_ lower: [UInt8], _ upper: [UInt8], in space: Keyspace, limit: Int?) throws(StoreError) -> Int {
        try inner.deleteRange(lower, upper, in: space, limit: limit)
    }

    func checkpoint(_ occasion: CheckpointOccasion) throws(StoreError) -> CheckpointReport { try inner.checkpoint(occasion) }

    func emptyLog() throws(StoreError) -> Bool { try inner.emptyLog() }
}

private final class FailingReader: SnapshotStore {
    private let inner: any SnapshotStore
    private let storage: FailingStorage

    init(_ inner: any SnapshotStore, _ storage: FailingStorage) {
        self.inner = inner
        self.storage = storage
    }

    func neverWait() { inner.neverWait() }

    var isFrugal: Bool {
        get { inner.isFrugal }
        set { inner.isFrugal = newValue }
    }

    func get<R>(_ key: [UInt8], in space: Keyspace, _ body: (Span<UInt8>) -> R) throws(StoreError) -> R? {
        try storage.check(key: key)
        return try inner.get(key, in: space, body)
    }

    func scan(
        _ space: Keyspace, from lower: [UInt8], to upper: [UInt8], reversed: Bool, _ body: (Span<UInt8>, Span<UInt8>) -> ScanStep
    ) throws(StoreError) {
        try storage.check(key: lower)
        try inner.scan(space, from: lower, to: upper, reversed: reversed, body)
    }

    func beginSnapshot() throws(StoreError) {
        try storage.check(.snapshot)
        try inner.beginSnapshot()
    }

    func endSnapshot() { inner.endSnapshot() }
}
