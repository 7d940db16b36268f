import EventLoop
import Synchronization

/// The queues that tasks can be put into, for all loops.
package final class TaskQueueTable: Sendable {
    /// The queues by name, with their regions; nil while they are not known.
    private let regions = Mutex<[String: String]?>(nil)

    private let numbers = Mutex<[String: QueueCounts]>([:])

    package init() {}

    /// The tasks of each queue, after the last transaction.
    package internal(set) var counts: [String: QueueCounts] {
        get { numbers.withLock { $0 } }
        set { numbers.withLock { $0 = newValue } }
    }

    /// The answer to the question for a queue.
    package enum Finding: Sendable, Equatable {
        case found(region: String)
        case missing
        /// The functions are still being loaded.
        case unknown
    }

    package func find(_ queue: String) -> Finding {
        regions.withLock { regions in
            guard let regions else { return .unknown }
            return regions[queue].map { .found(region: $0) } ?? .missing
        }
    }

    func use(_ regions: [String: String]) { self.regions.withLock { $0 = regions } }
}
