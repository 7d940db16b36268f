internal import HearthFunctions
internal import HearthJSON

/// The task queues of a test in memory: they keep what functions enqueue. Tests run tasks themselves.
struct MemoryTasks {
    /// The payloads of the calls of `enqueue`, with their ids.
    private(set) var enqueued: [JSONObject] = []
    /// The number of ids that were made.
    private var madeCount = 0

    mutating func call(_ method: String, _ payload: [UInt8], isQueue: (String) -> Bool) -> ServiceOutcome {
        guard var task = (try? JSONValue(parsing: payload))?.object, let queue = task["queue"]?.string else {
            return Self.failure("invalid-argument", "queue is not a string")
        }
        guard isQueue(queue) else { return Self.failure("not-found", "no function \(queue) has a task queue") }
        let id = task["id"]?.string
        let place = enqueued.firstIndex { $0["queue"]?.string == queue && $0["id"]?.string == id }
        switch method {
        case "enqueue":
            guard id == nil || place == nil else { return Self.failure("already-exists", "Requested entity already exists") }
            if id == nil { madeCount += 1 }
            let own = id ?? "task-\(madeCount)"
            task["id"] = .string(own)
            enqueued.append(task)
            return .value(["id": .string(own)])
        case "delete":
            guard id != nil else { return Self.failure("invalid-argument", "id is not a string") }
            guard let place else { return Self.failure("not-found", "Requested entity was not found.") }
            enqueued.remove(at: place)
            return .value(.null)
        default: return Self.failure("unimplemented", "tasks has no method \"\(method)\"; it has enqueue, delete")
        }
    }

    private static func failure(_ code: String, _ message: String) -> ServiceOutcome {
        let error: JSONValue = ["code": .string(code), "message": .string(message)]
        return ServiceOutcome(isOK: false, body: error.serialized())
    }
}
