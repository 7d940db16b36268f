import CLinux
import Synchronization

/// The process's limit of open files, and the share of it that is kept from connections: for databases, workers and files, and for
/// telling further clients that there is no room.
public enum DescriptorLimit {
    /// The highest limit asked for. Programs that loop over all descriptors up to their limit would take seconds.
    private static let most = 1 << 20
    /// A process with a lower limit has none left for connections.
    public static let least = 128
    private static let limit = Atomic<Int>(.max)
    /// The limit that holds; none before ``raise()``.
    public static var current: Int { limit.load(ordering: .relaxed) }
    /// The number from which on descriptors are kept from connections; there is none before ``raise()``.
    private static let firstKept = Atomic<Int32>(.max)
    /// From this number on a connection is closed without a refusal.
    private static let firstForbidden = Atomic<Int32>(.max)

    /// Raises the soft limit to the hard one. Programs that are built or run for developers get the limit that was there before;
    /// workers have one of their own.
    ///
    /// - Returns: the limit that holds now.
    @discardableResult
    public static func raise() -> Int {
        let limit = linux_raise_open_files(most)
        // Without an answer of the system none is known.
        guard limit > 0 else { return .max }
        Self.limit.store(limit, ordering: .relaxed)
        let kept = kept(of: limit)
        firstKept.store(Int32(limit - kept), ordering: .relaxed)
        firstForbidden.store(Int32(limit - kept * 3 / 4), ordering: .relaxed)
        return limit
    }

    /// A third, within reason.
    static func kept(of limit: Int) -> Int { min(max(limit / 3, 64), 4096, limit) }

    /// The treatment of a new connection, by its descriptor.
    enum Share {
        case usable
        /// Refuse the client with an answer.
        case kept
        /// Close the connection at once.
        case forbidden
    }

    /// The kernel gives out the lowest number that is free, so that a number says how many are in use, whatever for.
    static func share(of descriptor: Int32) -> Share {
        if descriptor < firstKept.load(ordering: .relaxed) { return .usable }
        return descriptor < firstForbidden.load(ordering: .relaxed) ? .kept : .forbidden
    }
}
