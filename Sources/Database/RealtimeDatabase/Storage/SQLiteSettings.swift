/// What a namespace in SQLite may take. The figures behind the defaults are in docs/decisions/sqlite.md.
public struct SQLiteSettings: Sendable {
    /// Of a new file.
    var pageSizeBytes = 4096
    /// Pages that the writer keeps in memory.
    public var writerCacheBytes = 32 << 20
    /// Pages that each reader keeps in memory.
    public var readerCacheBytes = 8 << 20
    /// The part of the file that each reader sees through a mapping instead of copying pages.
    public var readerMappedBytes = 64 << 20
    /// The pages that a checkpoint waits for at most, and what the log keeps on the disk after it has grown beyond it.
    var logPagesMax = 4096
    /// From here on a log that a snapshot keeps from beginning anew is reported.
    public var logBytesHeldBack = 64 << 20
    /// A full disk for tests.
    var pageCountMax: Int?

    /// The defaults.
    public init() {}
}
