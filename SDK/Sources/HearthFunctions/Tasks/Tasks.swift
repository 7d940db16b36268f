internal import HearthJSON

/// The host's task queues.
///
///     try await tasks.queue("sendMail").enqueue(Mail(to: "ada@example.com", text: "Hello"), options: TaskOptions(scheduleDelaySeconds: 60))
///
/// The names are those of the Firebase Admin SDKs.
public let tasks = Tasks()

/// The task queues of the project.
public struct Tasks: Sendable {
    init() {}

    /// The queue of a function with ``OnTaskDispatched``.
    public func queue(_ name: String) -> TaskQueue { TaskQueue(name: name) }
}

/// When and how a task runs.
public struct TaskOptions: Sendable {
    /// The time before the first attempt. Excludes ``scheduleTime``.
    public var scheduleDelaySeconds: Double?
    /// The time from which on the task may run, in RFC 3339. Excludes ``scheduleDelaySeconds``.
    public var scheduleTime: String?
    /// How long an attempt may take, 15 to 1800 seconds, if the function's `timeoutSeconds` is not less. Default: 600.
    public var dispatchDeadlineSeconds: Double?
    /// The id of the task: letters, digits, hyphens and underscores. A queue takes a second task with the same id only an hour after the end of
    /// the first. Default: an id that no other task has.
    public var id: String?
    /// Header fields for the function.
    public var headers: [String: String]?

    /// Options; an argument that is nil has the default of its property.
    public init(
        scheduleDelaySeconds: Double? = nil, scheduleTime: String? = nil, dispatchDeadlineSeconds: Double? = nil, id: String? = nil,
        headers: [String: String]? = nil
    ) {
        self.scheduleDelaySeconds = scheduleDelaySeconds
        self.scheduleTime = scheduleTime
        self.dispatchDeadlineSeconds = dispatchDeadlineSeconds
        self.id = id
        self.headers = headers
    }
}

/// A queue of tasks.
public struct TaskQueue: Sendable {
    /// The name of its function.
    public let name: String

    /// Adds a task. It is durable when this returns.
    ///
    /// - Returns: the id of the task.
    /// - Throws: `HttpsError`: `already-exists` for an id that is in use, `resource-exhausted` if the queue is full.
    @discardableResult
    public func enqueue(_ data: some Encodable, options: TaskOptions = TaskOptions()) async throws -> String {
        var payload: JSONObject = ["queue": .string(name), "data": try JSONValue(parsing: JSONEncoder().encode(data))]
        payload["id"] = options.id.map { .string($0) }
        payload["scheduleTime"] = options.scheduleTime.map { .string($0) }
        payload["scheduleDelaySeconds"] = options.scheduleDelaySeconds.map { .double($0) }
        payload["dispatchDeadlineSeconds"] = options.dispatchDeadlineSeconds.map { .double($0) }
        payload["headers"] = options.headers.map { headers in
            .object(JSONObject(headers.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) }))
        }
        return try await services.call("tasks", "enqueue", JSONValue.object(payload))["id"]?.string ?? ""
    }

    /// Deletes a task. If it runs, it may end, and is not repeated.
    ///
    /// - Throws: `HttpsError` `not-found` if there is no such task.
    public func delete(_ id: String) async throws {
        _ = try await services.call("tasks", "delete", ["queue": .string(name), "id": .string(id)] as JSONValue)
    }
}
