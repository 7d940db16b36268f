import SQLite
public import Store

/// Writes a namespace in SQLite.
public final class SQLiteWriter: SQLiteStore, OrderedStore {
    private var puts = StatementPool.forEachKeyspace(
        "INSERT INTO {}(key, value) VALUES(?1, ?2) ON CONFLICT(key) DO UPDATE SET value = excluded.value")
    private var deletes = StatementPool.forEachKeyspace("DELETE FROM {} WHERE key = ?1")
    private var rangeDeletes = StatementPool.forEachKeyspace("DELETE FROM {} WHERE key >= ?1 AND key < ?2")
    private var endlessDeletes = StatementPool.forEachKeyspace("DELETE FROM {} WHERE key >= ?1")
    private var bounds = StatementPool.forEachKeyspace("SELECT key FROM {} WHERE key >= ?1 ORDER BY key LIMIT 1 OFFSET ?2")
    private let file: StoreFile

    init(path: String, settings: StoreSettings, claim: WriterClaim) throws(StoreError) {
        file = try StoreFile(path, .namespace, settings, claim: claim)
        super.init(file.connection, owner: file)
    }

    /// Uses the tables of ``Outbox`` in a store of another kind, which is open. Belongs to the thread of the store.
    public init(sharing file: StoreFile) {
        self.file = file
        super.init(file.connection, owner: file)
    }

    public var isInTransaction: Bool { file.isInTransaction }

    public func begin() throws(StoreError) { try file.begin() }

    public func commit() throws(StoreError) { try file.commit() }

    public func rollback() { file.rollback() }

    public func put(_ key: [UInt8], _ value: Span<UInt8>, in space: Keyspace) throws(StoreError) {
        try file.requireTransaction()
        let statement = try puts[space.rawValue].take(connection)
        defer { puts[space.rawValue].giveBack(statement) }
        do {
            try key.withUnsafeBufferPointer { key throws(SQLiteError) in
                try value.withUnsafeBytes { value throws(SQLiteError) in
                    statement.bind(borrowing: UnsafeRawBufferPointer(key), at: 1)
                    statement.bind(borrowing: value, at: 2)
                    try statement.run()
                }
            }
        } catch {
            throw file.undo(error)
        }
    }

    @discardableResult
    public func delete(_ key: [UInt8], in space: Keyspace) throws(StoreError) -> Bool {
        try file.requireTransaction()
        let statement = try deletes[space.rawValue].take(connection)
        defer { deletes[space.rawValue].giveBack(statement) }
        return try remove(statement, key, []) > 0
    }

    @discardableResult
    public func deleteRange(_ lower: [UInt8], _ upper: [UInt8], in space: Keyspace, limit: Int?) throws(StoreError) -> Int {
        try file.requireTransaction()
        var upper = upper
        if let limit {
            guard limit > 0 else { return 0 }
            if let bound = try key(after: limit, from: lower, in: space), upper.isEmpty || ByteOrder.precedes(bound, upper) {
                upper = bound
            }
        }
        if upper.isEmpty {
            let statement = try endlessDeletes[space.rawValue].take(connection)
            defer { endlessDeletes[space.rawValue].giveBack(statement) }
            return try remove(statement, lower, [])
        }
        let statement = try rangeDeletes[space.rawValue].take(connection)
        defer { rangeDeletes[space.rawValue].giveBack(statement) }
        return try remove(statement, lower, upper)
    }

    /// Runs a deleting statement. Returns the number of deleted rows.
    private func remove(_ statement: Statement, _ lower: [UInt8], _ upper: [UInt8]) throws(StoreError) -> Int {
        do {
            try lower.withUnsafeBufferPointer { lower throws(SQLiteError) in
                try upper.withUnsafeBufferPointer { upper throws(SQLiteError) in
                    statement.bind(borrowing: UnsafeRawBufferPointer(lower), at: 1)
                    if !upper.isEmpty { statement.bind(borrowing: UnsafeRawBufferPointer(upper), at: 2) }
                    try statement.run()
                }
            }
        } catch {
            throw file.undo(error)
        }
        return connection.changes
    }

    /// The first key after the next `count` keys from `lower` on. Determined first, because SQLite deletes a plain range fastest.
    private func key(after count: Int, from lower: [UInt8], in space: Keyspace) throws(StoreError) -> [UInt8]? {
        let statement = try bounds[space.rawValue].take(connection)
        defer {
            statement.reset()
            bounds[space.rawValue].giveBack(statement)
        }
        do {
            return try lower.withUnsafeBufferPointer { lower throws(SQLiteError) -> [UInt8]? in
                statement.bind(borrowing: UnsafeRawBufferPointer(lower), at: 1)
                statement.bind(Int64(count), at: 2)
                return try statement.step() ? [UInt8](statement.bytes(at: 0)) : nil
            }
        } catch {
            throw file.undo(error)
        }
    }

    public func checkpoint(_ occasion: CheckpointOccasion) throws(StoreError) -> CheckpointReport { try file.checkpoint(occasion) }

    public func emptyLog() throws(StoreError) -> Bool { try file.emptyLog() }

    public var sizeBytes: Int { file.sizeBytes }
}
