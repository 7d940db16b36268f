internal import CHearth
internal import HearthFunctions
internal import HearthJSON
internal import Synchronization

/// Delivers database events to functions: those of one function and path in order, others side by side.
struct EventQueue {
    fileprivate struct Delivery {
        var event: TestTrigger.Event
        var instance: String
        var auth: JSONValue?
        var chainDepth: Int
    }

    var triggers: [TestTrigger] = []
    private(set) var failures: [FailedEvent] = []
    /// The number of deliveries that have begun.
    var deliveries: Int { lastID }
    private var waiting: [String: [Delivery]] = [:]
    private var lastID = 0
    private var idle: [@Sendable () -> Void] = []

    /// As many events may cause each other as on a host.
    private static let chainDepthMax = 16

    /// Calls `body` once no event is waiting or running.
    mutating func whenIdle(_ body: @escaping @Sendable () -> Void) {
        if waiting.isEmpty { body() } else { idle.append(body) }
    }

    /// Delivers the events that a change raises.
    mutating func add(_ commit: MemoryDatabase.Commit, chainDepth: Int, on host: InMemoryHost) {
        for event in triggers.flatMap({ $0.events(of: commit) }) {
            guard chainDepth <= Self.chainDepthMax else {
                failures.append(FailedEvent(function: event.function, path: event.path, message: "\(chainDepth) events have caused each other."))
                continue
            }
            let key = "\(event.function) \(event.path)"
            let delivery = Delivery(event: event, instance: commit.instance, auth: commit.auth, chainDepth: chainDepth)
            waiting[key, default: []].append(delivery)
            // The write is answered before its events are delivered.
            if waiting[key]?.count == 1 { host.loop.post { host.events.deliver(key, on: host) } }
        }
    }

    private mutating func deliver(_ key: String, on host: InMemoryHost) {
        guard let delivery = waiting[key]?.first else { return }
        lastID += 1
        let context = delivery.context(id: "test-event-\(lastID)")
        let payload: JSONValue = ["before": delivery.event.before, "after": delivery.event.after]
        // The call goes through the loop again, since this queue is being changed here.
        host.loop.post {
            host.start(delivery.event.function, context: context, payload: payload.serialized(), chainDepth: delivery.chainDepth) { outcome in
                host.loop.post { host.events.finish(key, outcome, on: host) }
            }
        }
    }

    private mutating func finish(_ key: String, _ outcome: InMemoryHost.Outcome, on host: InMemoryHost) {
        guard let delivery = waiting[key]?.removeFirst() else { return }
        if outcome.kind == HEARTH_ERROR {
            let error = try? JSONValue(parsing: outcome.body)
            let message = "\(error?["code"]?.string ?? "internal"): \(error?["message"]?.string ?? "")"
            failures.append(FailedEvent(function: delivery.event.function, path: delivery.event.path, message: message))
        }
        guard waiting[key]?.isEmpty == true else { return deliver(key, on: host) }
        waiting[key] = nil
        guard waiting.isEmpty else { return }
        let callers = idle
        idle = []
        for caller in callers { caller() }
    }
}

extension EventQueue.Delivery {
    fileprivate func context(id: String) -> JSONValue {
        var params = JSONObject()
        for (name, value) in event.params.sorted(by: { $0.key < $1.key }) { params[name] = .string(value) }
        var members: JSONObject = [
            "id": .string(id), "type": .string(event.type),
            "source": .string("//firebasedatabase.googleapis.com/projects/_/locations/us-central1/instances/\(instance)"),
            "subject": .string("refs/\(event.path)"), "time": .string(TestTime.now), "instance": .string(instance), "ref": .string(event.path),
            "location": "us-central1", "params": .object(params), "attempt": 1, "chainDepth": JSONValue(chainDepth),
        ]
        switch auth {
        case nil: members["authType"] = "admin"
        case .some(let auth):
            members["authType"] = auth.isNull ? "unauthenticated" : "app_user"
            members["authId"] = auth["uid"]
        }
        return ["event": .object(members)]
    }
}
