/// The memory and disk space of a store, and the pace of its checkpoints. The figures behind the defaults are in docs/decisions/sqlite.md.
public struct StoreSettings: Sendable {
    /// The page size of a new file.
    public var pageSizeBytes = 4096
    /// Pages that the writer keeps in memory.
    public var writerCacheBytes = 32 << 20
    /// Pages that each reader keeps in memory.
    public var readerCacheBytes = 8 << 20
    /// The part of the file that each reader sees through a mapping instead of copying pages.
    public var readerMappedBytes = 64 << 20
    /// The most pages for which a checkpoint waits. A larger log is truncated to this size.
    public var logPagesMax = 4096
    /// The size of a log from which on it is reported if a snapshot keeps it from starting over.
    public var logBytesHeldBack = 64 << 20
    /// When a checkpoint is due.
    public var pace = Pace()
    /// Simulates a full disk in tests.
    public var pageCountMax: Int?

    /// The defaults.
    public init() {}

    /// How often pages move from the log to the file. Writes wait during a checkpoint, so each one is timed, and its time determines when the
    /// next one is due.
    public struct Pace: Sendable {
        /// Pages in the log before the first checkpoint.
        public var pagesFirst = 128
        /// The least number of pages between checkpoints.
        public var pagesMin = 32
        /// A checkpoint that took less lets the next one come later; one that took more, sooner.
        public var goodMilliseconds: ClosedRange<Int> = 2...4

        /// Short pauses, for writes of single requests.
        public init() {}

        /// Fewer and longer pauses, for transactions that change the same pages repeatedly: the more of them share a checkpoint, the less is
        /// written.
        public static let thorough: Pace = {
            var pace = Pace()
            pace.pagesFirst = 1024
            pace.pagesMin = 512
            pace.goodMilliseconds = 4...8
            return pace
        }()
    }
}
