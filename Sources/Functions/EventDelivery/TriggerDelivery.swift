import EventLoop
import Logging
import RealtimeDatabase
import Tree

/// Delivers the events of all databases to functions, each event at least once.
///
/// Events of one function at one path are delivered in the order of their writes, all others concurrently. An event stays in the outbox of its
/// database until its function has succeeded, or it becomes a dead letter. Belongs to the home loop.
package final class TriggerDelivery {
    let loop: EventLoop
    let settings: DeliverySettings
    let log: Logger
    private let outbox: (String) -> any OutboxAccess
    private var targets: [String: any EventTarget] = [:]
    /// The names of deployed functions that cannot run now.
    private var waiting: Set<String> = []
    /// Whether all deployed functions are known. If not, events of unknown functions wait.
    private var areTargetsComplete = false
    private(set) var namespaces: [String: NamespaceDelivery] = [:]
    private(set) var isStopped = false
    package var figures = DeliveryFigures()
    /// The attempts that run, here or in the process before this one.
    package let attempts: RunningAttempts

    enum Target {
        case found(any EventTarget)
        case missing
        /// Undecided: functions are still being loaded, or could not be loaded.
        case unknown
    }

    /// - Parameter outbox: returns the outbox of the namespace with this name.
    package init(loop: EventLoop, settings: DeliverySettings, log: Logger, outbox: @escaping (String) -> any OutboxAccess) {
        self.loop = loop
        attempts = RunningAttempts(loop: loop)
        self.settings = settings
        self.log = log
        self.outbox = outbox
    }

    /// Sets the functions that events are delivered to.
    ///
    /// - Parameters:
    ///   - waiting: deployed functions that cannot run now, whose events wait.
    ///   - isComplete: whether all deployed functions are in one of the two. If a plugin could not be loaded, the events of its functions wait.
    package func publish(_ targets: [String: any EventTarget], waiting: Set<String> = [], isComplete: Bool) {
        self.targets = targets
        self.waiting = waiting
        areTargetsComplete = isComplete
        for namespace in namespaces.values { namespace.functionsDidChange() }
    }

    /// Delivers the announced events of a database.
    package func receive(_ announcement: EventAnnouncement) {
        guard !isStopped else { return }
        if let known = namespaces[announcement.namespace] { return known.receive(announcement) }
        let namespace = NamespaceDelivery(outbox(announcement.namespace), delivery: self)
        namespaces[announcement.namespace] = namespace
        namespace.receive(announcement)
    }

    /// Forgets events that their owner has deleted from the outbox. Their attempts that run may end.
    ///
    /// - Parameters:
    ///   - path: that of the events; nil for all events of the function.
    ///   - sequence: that of the last one. Later events stay.
    package func withdraw(_ function: String, of namespace: String, at path: Path?, through sequence: UInt64) {
        namespaces[namespace]?.withdraw(function, at: path, through: sequence)
    }

    /// Releases a namespace without events.
    func forget(_ namespace: NamespaceDelivery) {
        // Deferred, because the caller is a function of the namespace. New events may arrive until then.
        loop.endOfTurn { [self] in
            if namespaces[namespace.namespace] === namespace, namespace.isIdle { namespaces[namespace.namespace] = nil }
        }
    }

    func target(_ function: String) -> Target {
        if isStopped { return .unknown }
        if let target = targets[function] { return .found(target) }
        return areTargetsComplete && !waiting.contains(function) ? .missing : .unknown
    }

    // MARK: Stopping

    /// Starts no more attempts. Running ones may end.
    package func stop() {
        isStopped = true
        for namespace in namespaces.values { namespace.stop() }
    }

    /// Starts again after ``stop()``. The databases announce their events when they are opened.
    ///
    /// Attempts that still run are waited for, so that none is made twice.
    package func resume() {
        attempts.takeBack()
        isStopped = false
        namespaces = [:]
    }

    /// The number of running attempts.
    package var runningCount: Int { namespaces.values.reduce(0) { $0 + $1.runningCount } }

    /// Calls `completion` when all settlements are durable or could not be written.
    package func finish(completion: @escaping () -> Void) {
        var left = namespaces.count
        guard left > 0 else { return completion() }
        for namespace in namespaces.values {
            namespace.settlements.finish {
                left -= 1
                if left == 0 { completion() }
            }
        }
    }
}
