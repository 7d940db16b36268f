import Store

@testable import RealtimeDatabase

/// A store that counts what is asked of it.
final class CountingStore: OrderedStore {
    private let store: any OrderedStore
    /// Calls of any kind, and rows that scans went over.
    var operations = 0
    var rows = 0

    init(_ store: any OrderedStore) { self.store = store }

    /// How much `body` does.
    func counting(_ body: () throws -> Void) rethrows -> (operations: Int, rows: Int) {
        operations = 0
        rows = 0
        try body()
        return (operations, rows)
    }

    func get<R>(_ key: [UInt8], in space: Keyspace, _ body: (Span<UInt8>) -> R) throws(StoreError) -> R? {
        operations += 1
        return try store.get(key, in: space, body)
    }

    func scan(
        _ space: Keyspace, from lower: [UInt8], to upper: [UInt8], reversed: Bool, _ body: (Span<UInt8>, Span<UInt8>) -> ScanStep
    ) throws(StoreError) {
        operations += 1
        try store.scan(space, from: lower, to: upper, reversed: reversed) { key, value in
            rows += 1
            return body(key, value)
        }
    }

    var isInTransaction: Bool { store.isInTransaction }
    func begin() throws(StoreError) { try store.begin() }
    func commit() throws(StoreError) { try store.commit() }
    func rollback() { store.rollback() }

    func put(_ key: [UInt8], _ value: Span<UInt8>, in space: Keyspace) throws(StoreError) {
        operations += 1
        try store.put(key, value, in: space)
    }

    func delete(_ key: [UInt8], in space: Keyspace) throws(StoreError) -> Bool {
        operations += 1
        return try store.delete(key, in: space)
    }

    func deleteRange(_ lower: [UInt8], _ upper: [UInt8], in space: Keyspace, limit: Int?) throws(StoreError) -> Int {
        operations += 1
        let count = try store.deleteRange(lower, upper, in: space, limit: limit)
        rows += count
        return count
    }

    func checkpoint(_ occasion: CheckpointOccasion) throws(StoreError) -> CheckpointReport { try store.checkpoint(occasion) }
    func emptyLog() throws(StoreError) -> Bool { try store.emptyLog() }
    var sizeBytes: Int { store.sizeBytes }
}
