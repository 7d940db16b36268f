import CLinux
import Synchronization

/// The process's limit of open files. A share of it is reserved: connections may not use it, so that databases, workers, files and refusals
/// of further clients still get descriptors.
public enum DescriptorLimit {
    /// The highest limit requested. Programs that loop over all descriptors up to the limit would take seconds.
    private static let most = 1 << 20
    /// The least limit that a host starts with: a lower one leaves no descriptors for connections.
    public static let least = 128
    private static let limit = Atomic<Int>(.max)
    /// The limit in force; 0 before ``raise()``.
    public static var current: Int { limit.load(ordering: .relaxed) }
    /// The first descriptor number of the reserved share.
    private static let firstKept = Atomic<Int32>(.max)
    /// From this number on a connection is closed without an answer.
    private static let firstForbidden = Atomic<Int32>(.max)

    /// Raises the soft limit to the hard one. Builds and programs of developers run with the original limit; workers have their own.
    ///
    /// - Returns: the limit in force.
    @discardableResult
    public static func raise() -> Int {
        let limit = linux_raise_open_files(most)
        // The system reports no limit.
        guard limit > 0 else { return .max }
        Self.limit.store(limit, ordering: .relaxed)
        let kept = kept(of: limit)
        firstKept.store(Int32(limit - kept), ordering: .relaxed)
        firstForbidden.store(Int32(limit - kept * 3 / 4), ordering: .relaxed)
        return limit
    }

    /// A third of the limit, between 64 and 4,096.
    static func kept(of limit: Int) -> Int { min(max(limit / 3, 64), 4096, limit) }

    /// The treatment of a new connection, by its descriptor.
    enum Share {
        case usable
        /// Refuse the client with an answer.
        case kept
        /// Close the connection at once.
        case forbidden
    }

    /// The kernel assigns the lowest free number, so the number tells how many descriptors are in use.
    static func share(of descriptor: Int32) -> Share {
        if descriptor < firstKept.load(ordering: .relaxed) { return .usable }
        return descriptor < firstForbidden.load(ordering: .relaxed) ? .kept : .forbidden
    }
}
