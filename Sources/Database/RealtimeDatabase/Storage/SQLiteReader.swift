import SQLite

/// A connection that only reads: it neither writes nor checkpoints.
public final class SQLiteReader: SQLiteStore, SnapshotStore {
    private let beginning: Statement
    private let ending: Statement
    private let touching: Statement
    private let cacheBytes: Int
    /// What the cache of a connection that reads a long answer may hold.
    static let frugalCacheBytes = 256 << 10

    public var isFrugal = false {
        didSet {
            guard isFrugal != oldValue else { return }
            // Where this fails, more is kept.
            try? connection.execute("PRAGMA cache_size = -\((isFrugal ? Self.frugalCacheBytes : cacheBytes) / 1024)")
        }
    }

    init(path: String, settings: SQLiteSettings) throws(StoreError) {
        cacheBytes = settings.readerCacheBytes
        let connection = try SQLiteSchema.openReader(path, settings: settings)
        do {
            beginning = try connection.prepare("BEGIN")
            ending = try connection.prepare("COMMIT")
            touching = try connection.prepare("SELECT 1 FROM meta LIMIT 1")
            super.init(connection)
        } catch {
            throw StoreError(error)
        }
    }

    public func beginSnapshot() throws(StoreError) {
        do {
            try beginning.run()
            // A transaction becomes a snapshot with its first read.
            try touching.run()
        } catch {
            endSnapshot()
            throw StoreError(error)
        }
    }

    public func endSnapshot() {
        guard connection.isInTransaction else { return }
        // Ending what has only read fails while a read is under way, which ends it then.
        try? ending.run()
    }
}
