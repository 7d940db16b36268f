import SQLite

/// The format of one kind of store: how its files are recognized, and how they are made and brought up to date.
///
/// The version of a file is the number of migrations that have been applied to it. Version and kind are in the header. A file of a later
/// version is not changed.
public struct StoreSchema: Sendable {
    /// The name of the kind in errors, such as `a store of messages`.
    public var kind: String
    /// Four characters, in the header of each file.
    public var applicationID: Int64
    /// The steps from each version to the next, in SQL. The first makes the tables of a new file. Each is a transaction: after a crash, the
    /// file has the version before or after it. A new file gets all of them in one transaction, so that another process never finds it half
    /// made. A released migration is never changed.
    public var migrations: [String]
    /// Adds tables and indexes that programs of earlier versions do not mind, so that a failed upgrade of the host leaves them a file that
    /// they can open. SQL that runs at each opening, in a transaction, and changes nothing the second time.
    public var additions: String

    /// Names a kind of store; see the properties.
    public init(kind: String, applicationID: Int64, migrations: [String], additions: String = "") {
        self.kind = kind
        self.applicationID = applicationID
        self.migrations = migrations
        self.additions = additions
    }

    /// The version of files that are up to date.
    var version: Int64 { Int64(migrations.count) }

    // MARK: Opening

    /// Opens the one connection that writes, and makes the file or brings it up to date.
    ///
    /// - Parameter path: `:memory:` for a store that ends with the connection.
    func openWriter(_ path: String, _ settings: StoreSettings) throws(StoreError) -> Connection {
        if path != StoreFile.inMemory { try StoreFiles.makeFile(path) }
        do {
            let connection = try Connection(path)
            try connection.execute("PRAGMA page_size = \(settings.pageSizeBytes)")
            let owner = try connection.value("PRAGMA application_id")
            let isEmpty = try connection.value("SELECT count(*) FROM sqlite_schema") == 0
            guard owner == .integer(applicationID) || owner == 0 && isEmpty else { throw notOurs(path) }
            let journal = try connection.value("PRAGMA journal_mode = WAL")
            guard journal == "wal" || path == StoreFile.inMemory else {
                throw StoreError(.io, "\(path): the file system allows no write-ahead log; name another data folder")
            }
            try connection.execute(
                """
                PRAGMA synchronous = FULL;
                PRAGMA secure_delete = FAST;
                PRAGMA journal_size_limit = \(settings.logPagesMax * settings.pageSizeBytes);
                """)
            try prepare(connection, cacheBytes: settings.writerCacheBytes)
            if let pages = settings.pageCountMax { try connection.execute("PRAGMA max_page_count = \(pages)") }
            try migrate(connection)
            // SQLite opens a file that may not be written to for reading only, and does not say so before something is written.
            try connection.execute("BEGIN IMMEDIATE; PRAGMA user_version = \(version); ROLLBACK")
            return connection
        } catch {
            throw StoreError(either: error)
        }
    }

    /// Opens a connection that reads a file which a writer has opened before.
    func openReader(_ path: String, _ settings: StoreSettings) throws(StoreError) -> Connection {
        do {
            let connection = try Connection(path, access: .readOnly)
            try connection.execute("PRAGMA mmap_size = \(settings.readerMappedBytes)")
            try prepare(connection, cacheBytes: settings.readerCacheBytes)
            guard try connection.value("PRAGMA application_id") == .integer(applicationID) else { throw notOurs(path) }
            return connection
        } catch {
            throw StoreError(either: error)
        }
    }

    private func prepare(_ connection: Connection, cacheBytes: Int) throws(SQLiteError) {
        try connection.execute(
            """
            PRAGMA busy_timeout = 2000;
            PRAGMA cache_size = -\(cacheBytes / 1024);
            PRAGMA temp_store = MEMORY;
            PRAGMA trusted_schema = OFF;
            """)
    }

    private func migrate(_ connection: Connection) throws {
        guard case .integer(let found)? = try connection.value("PRAGMA user_version"), found >= 0, found <= version else {
            throw StoreError(.other, "\(connection.path) was made by a newer version of this program; use that one")
        }
        if found == 0 {
            try connection.transaction { () throws(SQLiteError) in
                for migration in migrations { try connection.execute(migration) }
                try mark(connection, version)
            }
        }
        for (step, migration) in migrations.enumerated().dropFirst(found == 0 ? migrations.count : Int(found)) {
            try connection.transaction { () throws(SQLiteError) in
                try connection.execute(migration)
                try mark(connection, Int64(step + 1))
            }
        }
        guard !additions.isEmpty else { return }
        try connection.transaction { () throws(SQLiteError) in try connection.execute(additions) }
    }

    private func mark(_ connection: Connection, _ version: Int64) throws(SQLiteError) {
        try connection.execute("PRAGMA application_id = \(applicationID); PRAGMA user_version = \(version)")
    }

    private func notOurs(_ path: String) -> StoreError {
        StoreError(.corrupt, "\(path) is not \(kind); move it away, or name another data folder")
    }
}
