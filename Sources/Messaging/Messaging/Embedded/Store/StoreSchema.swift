import SQLite

/// The tables of the store of messages.
///
/// - `device`: an installation that can receive; it is gone once it is unregistered.
/// - `topic`, `subscription`: who wants what is sent to a topic. Found from both ends.
/// - `message`: what was accepted, for as long as somebody waits for it, and then for as long as outcomes are kept.
/// - `pending`: one row for each device that a message waits for. A row goes when the device acknowledges, or its time is over.
/// - `fanout`: messages to many of which not all receivers have their row yet, and how far that has come.
/// - `outcome`: what became of a message at a device.
/// - `installation`: which installation registered a device and may change it, also for a while after it has unregistered.
enum StoreSchema {
    /// `Hmsg`, in the header of the file.
    static let applicationID: Int64 = 0x486D_7367
    static let version: Int64 = 1
    /// The pages of 4 KiB that the write-ahead log has at most before they are moved, and that it keeps.
    static let logPagesMax = 4096

    static let tables = """
        CREATE TABLE device (id INTEGER PRIMARY KEY, project TEXT NOT NULL, fid TEXT NOT NULL, token TEXT NOT NULL, platform TEXT NOT NULL,
            package TEXT NOT NULL, name TEXT NOT NULL, address TEXT NOT NULL, created INTEGER NOT NULL, seen INTEGER NOT NULL,
            uninstalled INTEGER NOT NULL, overflowed INTEGER NOT NULL);
        CREATE UNIQUE INDEX deviceToken ON device(token);
        CREATE UNIQUE INDEX deviceFid ON device(fid);
        CREATE INDEX deviceSeen ON device(seen);
        CREATE TABLE topic (id INTEGER PRIMARY KEY, project TEXT NOT NULL, name TEXT NOT NULL, subscribers INTEGER NOT NULL);
        CREATE UNIQUE INDEX topicName ON topic(project, name);
        CREATE TABLE subscription (topic INTEGER NOT NULL, device INTEGER NOT NULL, created INTEGER NOT NULL, PRIMARY KEY (topic, device))
            WITHOUT ROWID;
        CREATE INDEX subscriptionDevice ON subscription(device, topic);
        CREATE TABLE message (id INTEGER PRIMARY KEY, project TEXT NOT NULL, form INTEGER NOT NULL, body BLOB NOT NULL, sent INTEGER NOT NULL,
            remaining INTEGER NOT NULL);
        CREATE INDEX messageDone ON message(sent) WHERE remaining = 0;
        CREATE TABLE pending (device INTEGER NOT NULL, message INTEGER NOT NULL, collapse TEXT, priority INTEGER NOT NULL, ttl INTEGER NOT NULL,
            expires INTEGER NOT NULL, PRIMARY KEY (device, message)) WITHOUT ROWID;
        CREATE INDEX pendingExpires ON pending(expires);
        CREATE TABLE fanout (message INTEGER PRIMARY KEY, cursor INTEGER NOT NULL);
        CREATE TABLE outcome (message INTEGER NOT NULL, device INTEGER NOT NULL, fid TEXT NOT NULL, outcome TEXT NOT NULL, detail TEXT NOT NULL,
            at INTEGER NOT NULL, PRIMARY KEY (message, device)) WITHOUT ROWID;
        CREATE TABLE idempotency (key TEXT PRIMARY KEY, name TEXT NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID;
        CREATE INDEX idempotencyAt ON idempotency(at);
        CREATE TABLE account (email TEXT PRIMARY KEY, project TEXT NOT NULL, keyID TEXT NOT NULL, publicKey BLOB NOT NULL, created INTEGER NOT NULL)
            WITHOUT ROWID;
        """

    /// What later versions of the program have added, in a way that those before can use the file, too: an upgrade that fails leaves it to them.
    private static let additions = """
        CREATE TABLE IF NOT EXISTS installation (fid TEXT PRIMARY KEY, owner TEXT NOT NULL, gone INTEGER NOT NULL) WITHOUT ROWID;
        CREATE INDEX IF NOT EXISTS installationGone ON installation(gone) WHERE gone > 0;
        CREATE INDEX IF NOT EXISTS deviceNew ON device(created) WHERE seen = created;
        """

    private static func add(to connection: Connection) throws(SQLiteError) {
        // Before there was a bound for devices that never came back, one that took messages from its push service was not noted as such.
        if try connection.value("SELECT count(*) FROM sqlite_schema WHERE name = 'installation'") == 0 {
            try connection.run("UPDATE device SET seen = created + 1 WHERE seen = created")
        }
        try connection.execute(additions)
    }

    /// Opens the one connection that writes, and makes the tables in a new file.
    ///
    /// `:memory:` is a store that ends with the host. What the settings are for is said in docs/decisions/sqlite.md.
    static func open(_ path: String) throws(StoreOpenError) -> Connection {
        do {
            let connection = try Connection(path)
            let owner = try connection.value("PRAGMA application_id")
            let isEmpty = try connection.value("SELECT count(*) FROM sqlite_schema") == 0
            guard owner == .integer(applicationID) || owner == 0 && isEmpty else {
                throw StoreOpenError("\(path) is not a store of messages; move it away, or name another data folder")
            }
            let journal = try connection.value("PRAGMA journal_mode = WAL")
            guard journal == "wal" || path == ":memory:" else {
                throw StoreOpenError("\(path): the file system allows no write-ahead log; name another data folder")
            }
            try connection.execute(
                """
                PRAGMA synchronous = FULL; PRAGMA busy_timeout = 2000; PRAGMA cache_size = -\(32 * 1024); PRAGMA temp_store = MEMORY;
                PRAGMA trusted_schema = OFF; PRAGMA journal_size_limit = \(logPagesMax << 12);
                """)
            let found = try connection.value("PRAGMA user_version")
            if found == 0 {
                try connection.transaction { () throws(SQLiteError) in
                    try connection.execute(tables)
                    try connection.execute("PRAGMA application_id = \(applicationID); PRAGMA user_version = \(version)")
                }
            } else if found != .integer(version) {
                throw StoreOpenError("\(path) was made by a newer version of this program; use that one")
            }
            try connection.transaction { () throws(SQLiteError) in try add(to: connection) }
            return connection
        } catch let error as StoreOpenError {
            throw error
        } catch {
            throw StoreOpenError("\(path) cannot be opened: \(error)")
        }
    }
}

/// Why the store cannot be used.
struct StoreOpenError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
