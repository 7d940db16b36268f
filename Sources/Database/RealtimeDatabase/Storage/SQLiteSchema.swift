import SQLite

/// The tables of a namespace's file, and how its connections are set up. The reasons are in docs/decisions/sqlite.md.
enum SQLiteSchema {
    /// `Hrth`, in the header of each file.
    static let applicationID: Int64 = 0x4872_7468
    static let version: Int64 = 1

    static func table(_ space: Keyspace) -> String {
        switch space {
        case .tree: "tree"
        case .index: "indexes"
        case .outbox: "outbox"
        case .deadLetters: "deadLetters"
        case .meta: "meta"
        }
    }

    /// A statement for each keyspace, in their order; `{}` stands for the table.
    static func pools(_ sql: String) -> [StatementPool] {
        Keyspace.allCases.map { space in
            StatementPool(sql.split(separator: "{}", omittingEmptySubsequences: false).joined(separator: table(space)))
        }
    }

    /// Opens the connection that writes, and makes the tables in a new file.
    static func openWriter(_ path: String, settings: SQLiteSettings) throws(StoreError) -> Connection {
        do {
            let connection = try Connection(path)
            try connection.execute("PRAGMA page_size = \(settings.pageSizeBytes)")
            let owner = try connection.value("PRAGMA application_id")
            let isEmpty = try connection.value("SELECT count(*) FROM sqlite_schema") == 0
            guard owner == .integer(applicationID) || owner == 0 && isEmpty else { throw notOurs(path) }
            guard try connection.value("PRAGMA journal_mode = WAL") == "wal" else {
                throw StoreError(.io, "\(path): the file system allows no write-ahead log")
            }
            try connection.execute(
                """
                PRAGMA synchronous = FULL;
                PRAGMA secure_delete = FAST;
                PRAGMA journal_size_limit = \(settings.logPagesMax * settings.pageSizeBytes);
                """)
            try prepare(connection, cacheBytes: settings.writerCacheBytes)
            if let pages = settings.pageCountMax { try connection.execute("PRAGMA max_page_count = \(pages)") }
            try makeTables(connection)
            // SQLite opens a file that may not be written to for reading only, and does not say so before something is written.
            try connection.execute("BEGIN IMMEDIATE; PRAGMA user_version = \(version); ROLLBACK")
            return connection
        } catch {
            throw StoreError(either: error)
        }
    }

    /// Opens a connection that reads.
    static func openReader(_ path: String, settings: SQLiteSettings) throws(StoreError) -> Connection {
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

    private static func prepare(_ connection: Connection, cacheBytes: Int) throws(SQLiteError) {
        try connection.execute(
            """
            PRAGMA busy_timeout = 2000;
            PRAGMA cache_size = -\(cacheBytes / 1024);
            PRAGMA temp_store = MEMORY;
            PRAGMA trusted_schema = OFF;
            """)
    }

    private static func makeTables(_ connection: Connection) throws {
        let found = try connection.value("PRAGMA user_version")
        guard found != .integer(version) else { return }
        guard found == 0 else { throw StoreError(.other, "\(connection.path) was made by a newer version") }
        try connection.transaction { () throws(SQLiteError) in
            for space in Keyspace.allCases {
                try connection.execute("CREATE TABLE \(table(space)) (key BLOB NOT NULL PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID")
            }
            try connection.execute("PRAGMA application_id = \(applicationID); PRAGMA user_version = \(version)")
        }
    }

    private static func notOurs(_ path: String) -> StoreError {
        StoreError(.corrupt, "\(path) is not a namespace's file")
    }
}
