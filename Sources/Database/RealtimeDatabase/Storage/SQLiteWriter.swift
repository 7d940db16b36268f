import SQLite

/// The connection that writes and checkpoints, the only one of its file that does.
public final class SQLiteWriter: SQLiteStore, OrderedStore {
    private(set) var upkeep: LogUpkeep
    private var puts = SQLiteSchema.pools("INSERT INTO {}(key, value) VALUES(?1, ?2) ON CONFLICT(key) DO UPDATE SET value = excluded.value")
    private var deletes = SQLiteSchema.pools("DELETE FROM {} WHERE key = ?1")
    private var rangeDeletes = SQLiteSchema.pools("DELETE FROM {} WHERE key >= ?1 AND key < ?2")
    private var endlessDeletes = SQLiteSchema.pools("DELETE FROM {} WHERE key >= ?1")
    private var bounds = SQLiteSchema.pools("SELECT key FROM {} WHERE key >= ?1 ORDER BY key LIMIT 1 OFFSET ?2")
    private let beginning: Statement
    private let committing: Statement

    init(path: String, settings: SQLiteSettings, claim: WriterClaim) throws(StoreError) {
        let connection = try SQLiteSchema.openWriter(path, settings: settings)
        do {
            beginning = try connection.prepare("BEGIN IMMEDIATE")
            committing = try connection.prepare("COMMIT")
            upkeep = LogUpkeep(connection, settings: settings)
            super.init(connection, claim)
        } catch {
            throw StoreError(error)
        }
    }

    public var isInTransaction: Bool { connection.isInTransaction }

    public func begin() throws(StoreError) {
        do {
            try beginning.run()
        } catch {
            throw StoreError(error)
        }
    }

    public func commit() throws(StoreError) {
        try requireTransaction()
        let before = connection.logPages
        do {
            try committing.run()
        } catch {
            throw undo(error)
        }
        upkeep.committed(before: before)
    }

    public func rollback() {
        // Where it fails, SQLite has undone the transaction by itself.
        if connection.isInTransaction { try? connection.execute("ROLLBACK") }
    }

    public func put(_ key: [UInt8], _ value: Span<UInt8>, in space: Keyspace) throws(StoreError) {
        try requireTransaction()
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
            throw undo(error)
        }
    }

    @discardableResult
    public func delete(_ key: [UInt8], in space: Keyspace) throws(StoreError) -> Bool {
        try requireTransaction()
        let statement = try deletes[space.rawValue].take(connection)
        defer { deletes[space.rawValue].giveBack(statement) }
        return try remove(statement, key, []) > 0
    }

    @discardableResult
    public func deleteRange(_ lower: [UInt8], _ upper: [UInt8], in space: Keyspace, limit: Int?) throws(StoreError) -> Int {
        try requireTransaction()
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

    /// Runs a statement that deletes; how many rows it deleted.
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
            throw undo(error)
        }
        return connection.changes
    }

    /// The key that `count` keys, from `lower` on, stand before. Found first, since a plain range is what SQLite deletes fastest.
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
            throw undo(error)
        }
    }

    private func requireTransaction() throws(StoreError) {
        guard connection.isInTransaction else { throw StoreError(.other, "\(connection.path): there is no transaction") }
    }

    /// Ends the transaction that `error` happened in, so that nothing of it can be committed.
    private func undo(_ error: SQLiteError) -> StoreError {
        connection.undo(error)
        return StoreError(error)
    }
}

// MARK: Upkeep

extension SQLiteWriter {
    public func checkpoint(_ occasion: CheckpointOccasion) throws(StoreError) -> CheckpointReport {
        guard !connection.isInTransaction else { throw StoreError(.other, "\(connection.path): a checkpoint inside of a transaction") }
        try upkeep.run(occasion)
        return upkeep.report
    }

    public func emptyLog() throws(StoreError) -> Bool {
        guard !connection.isInTransaction else { throw StoreError(.other, "\(connection.path): the log is emptied inside of a transaction") }
        return try upkeep.emptyLog()
    }

    /// The database file and its log.
    public var sizeBytes: Int { FileSystem.size(connection.path) + FileSystem.size(connection.path + "-wal") }
}
