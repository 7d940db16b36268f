import EventLoop
import FunctionDispatch
import RealtimeDatabase
import Tree

/// The waiting calls of `observe`, of all plugins. Belongs to the dispatcher's loop.
final class Observers {
    let database: RealtimeDatabase
    let memory: MemoryBudget
    let loop: EventLoop
    private var plugins: [String: Waiting] = [:]
    private var isStopping = false

    /// The waiting calls of a plugin.
    private struct Waiting {
        let gate: ServiceGate
        var calls: [ObjectIdentifier: Observation] = [:]
        /// The size of their payloads.
        var bytes = 0
    }

    /// The most waiting calls of a plugin.
    static let waitingMax = 1000
    /// The most values that are read again at the same time for the waiting calls of a plugin. They have a gate of their own, so that
    /// other calls do not wait for them.
    private static let readsMax = 8

    init(_ database: RealtimeDatabase, _ memory: MemoryBudget, _ loop: EventLoop) {
        self.database = database
        self.memory = memory
        self.loop = loop
    }

    /// The refusal of a call that would observe now; nil if it may.
    func refusal(at path: Path) -> DatabaseServiceRefusal? {
        isStopping ? .observe(.unavailable, "the host stops, and observes no more; try again", at: path) : nil
    }

    /// Waits for another value than the caller has. Completes `call` once.
    func wait(
        _ request: ObserveRequest, _ instance: String?, for call: ServiceCall, completion: @escaping (ServiceAnswer) -> Void
    ) {
        let (plugin, path) = (call.artifact.name, request.read.path)
        let share = memory.share(ofPlugin: plugin)
        let waiting =
            plugins[plugin] ?? Waiting(gate: ServiceGate(loop: loop, share: share, inFlightMax: Self.readsMax))
        guard waiting.calls.count < Self.waitingMax else {
            let message = "\(Self.waitingMax) calls of observe of this plugin are waiting, which is the limit; end others first"
            return completion(DatabaseServiceRefusal.observe(.tooManyObservers, message, at: path).answer)
        }
        // Payloads of waiting calls must not use up the share, because the host then stops reading from the plugin's workers.
        guard waiting.bytes + call.payload.count <= share.bytesMax / 4 else {
            let message = "the waiting calls of observe of this plugin have \(waiting.bytes) bytes of payload, which is the limit; end others first"
            return completion(DatabaseServiceRefusal.observe(.tooManyObservers, message, at: path).answer)
        }
        let observation = Observation(request, instance, for: call, waiting.gate, in: self, completion: completion)
        plugins[plugin] = waiting
        plugins[plugin]?.calls[ObjectIdentifier(observation)] = observation
        plugins[plugin]?.bytes += call.payload.count
        observation.begin()
    }

    /// Forgets a call that was answered.
    func remove(_ observation: Observation) {
        let plugin = observation.call.artifact.name
        guard plugins[plugin]?.calls.removeValue(forKey: ObjectIdentifier(observation)) != nil else { return }
        plugins[plugin]?.bytes -= observation.call.payload.count
    }

    /// Ends the waits of a plugin with this id.
    func end(id: String, of plugin: String) {
        for observation in (plugins[plugin]?.calls ?? [:]).values where observation.request.id == id { observation.finish(.unchanged) }
    }

    // MARK: Changes of the host

    /// Answers all waiting calls, so that they are repeated at the host that takes over.
    func hostChanges() {
        for observation in all { observation.finish(.unchanged) }
    }

    /// Refuses all waiting calls, and later ones.
    func hostStops() {
        isStopping = true
        for observation in all {
            if let refusal = refusal(at: observation.request.read.path) { observation.finish(refusal.answer) }
        }
    }

    private var all: [Observation] { plugins.values.flatMap(\.calls.values) }
}
