import EventLoop
import Logging
import RealtimeDatabase

/// Runs functions because of events: takes what databases announce, and brings each event to its function at least once.
///
/// Events of one function at one path are delivered in the order of their writes, the others side by side. An event stays in
/// its database's outbox until its function has succeeded, or it is a dead letter. Belongs to the home loop.
package final class TriggerDelivery {
    let loop: EventLoop
    let settings: DeliverySettings
    let log: Logger
    private let outbox: (String) -> any OutboxAccess
    private var targets: [String: any EventTarget] = [:]
    /// Functions that are deployed and cannot run now.
    private var waiting: Set<String> = []
    /// Whether a function that is among neither is gone for good; until then its events wait.
    private var areTargetsComplete = false
    private(set) var namespaces: [String: NamespaceDelivery] = [:]
    private(set) var isStopped = false
    package var figures = DeliveryFigures()

    enum Target {
        case found(any EventTarget)
        case missing
        /// Functions are still being loaded, or some could not be.
        case unknown
    }

    /// - Parameter outbox: the outbox of a namespace by its name.
    package init(loop: EventLoop, settings: DeliverySettings, log: Logger, outbox: @escaping (String) -> any OutboxAccess) {
        self.loop = loop
        self.settings = settings
        self.log = log
        self.outbox = outbox
    }

    /// From now on these functions are run.
    ///
    /// - Parameters:
    ///   - waiting: functions whose events wait for them.
    ///   - isComplete: whether there are no others. If a plugin could not be loaded, the events of its functions wait for it.
    package func publish(_ targets: [String: any EventTarget], waiting: Set<String> = [], isComplete: Bool) {
        self.targets = targets
        self.waiting = waiting
        areTargetsComplete = isComplete
        for namespace in namespaces.values { namespace.functionsDidChange() }
    }

    /// A database has events.
    package func receive(_ announcement: EventAnnouncement) {
        guard !isStopped else { return }
        if let known = namespaces[announcement.namespace] { return known.receive(announcement) }
        let namespace = NamespaceDelivery(outbox(announcement.namespace), delivery: self)
        namespaces[announcement.namespace] = namespace
        namespace.receive(announcement)
    }

    /// A namespace has no events left.
    func forget(_ namespace: NamespaceDelivery) {
        // Not within the call that led here; meanwhile there may be others.
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

    /// Starts nothing more. Attempts that run may end.
    package func stop() {
        isStopped = true
        for namespace in namespaces.values { namespace.stop() }
    }

    /// Begins anew after ``stop()``, with what the databases announce when they are opened again.
    package func resume() {
        isStopped = false
        namespaces = [:]
    }

    /// How many attempts run.
    package var runningCount: Int { namespaces.values.reduce(0) { $0 + $1.runningCount } }

    /// Calls `completion` once what is known of events is durable, as far as that can be.
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
