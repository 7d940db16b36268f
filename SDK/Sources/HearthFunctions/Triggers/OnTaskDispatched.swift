internal import HearthJSON

/// A task of a queue.
///
/// A task is repeated until the function has succeeded or its retries are over. All attempts have the same `id`.
public struct TaskRequest<Input: Sendable>: Sendable {
    /// The data of the task.
    public let data: Input
    /// The id of the task, the same in every attempt.
    public let id: String
    /// The name of the queue, which is that of the function.
    public let queueName: String
    /// The failed attempts before this one, also those that the function did not answer.
    public let retryCount: Int
    /// The attempts before this one that the function has answered.
    public let executionCount: Int
    /// The time from which on the task could run, in RFC 3339.
    public let scheduledTime: String
    /// The HTTP status that stands for the error of the last attempt; nil at the first attempt.
    public let previousResponse: Int?
    /// The error of the last attempt; nil at the first attempt.
    public let retryReason: String?
    /// The header fields that the enqueuer gave, with names in lower case.
    public let headers: [String: String]
    private let invocation: Invocation

    /// The task's place in a trace, as a W3C `traceparent`.
    public var traceparent: String? { invocation.context.traceparent }
    /// The W3C `tracestate` of the trace, to be sent on with ``traceparent``.
    public var tracestate: String? { invocation.context.tracestate }
    /// The time at which the function's task is cancelled; nil for never.
    public var deadline: ContinuousClock.Instant? { invocation.deadline }

    init(_ data: Input, _ invocation: Invocation) {
        let head = invocation.context.event ?? [:]
        self.data = data
        id = head["id"]?.string ?? ""
        queueName = head["queueName"]?.string ?? ""
        retryCount = head["retryCount"]?.int ?? 0
        executionCount = head["executionCount"]?.int ?? 0
        scheduledTime = head["scheduledTime"]?.string ?? ""
        previousResponse = head["previousResponse"]?.int
        retryReason = head["retryReason"]?.string
        var fields: [String: String] = [:]
        for (name, value) in head["headers"]?.object ?? [:] { fields[name] = value.string }
        headers = fields
        self.invocation = invocation
    }
}

/// A function with a queue of tasks, which has its name.
///
///     struct Mail: Decodable { var to: String, text: String }
///
///     OnTaskDispatched("sendMail", rateLimits: RateLimits(maxDispatchesPerSecond: 2)) { (request: TaskRequest<Mail>) in
///         try await send(request.data.text, to: request.data.to)
///     }
///
/// The type after `TaskRequest` is the shape of the data: any `Decodable`, or `JSONValue` for data of any shape. Functions enqueue with
/// ``tasks``, other programs with the Admin SDKs. A task runs at least once.
public struct OnTaskDispatched: FunctionsContent {
    /// The one function.
    public let definitions: [FunctionDefinition]

    /// - Parameters:
    ///   - name: the function's name, which is that of the queue.
    ///   - retryConfig: how a failed task is repeated. Default: two more attempts, after 0.1 and 0.2 seconds.
    ///   - rateLimits: how fast tasks begin. Default: 500 in a second, and 1000 at the same time.
    ///   - options: how the function runs.
    ///   - handler: the function.
    public init<Input: Decodable & Sendable & SendableMetatype>(
        _ name: String, retryConfig: RetryConfig = RetryConfig(), rateLimits: RateLimits = RateLimits(), options: Options = Options(),
        _ handler: @escaping @Sendable (TaskRequest<Input>) async throws -> Void
    ) {
        let whole = EventHandler { invocation in
            try await handler(TaskRequest(try invocation.data(as: Input.self), invocation))
        }
        let trigger = TaskQueueDefinition(retry: retryConfig, limits: rateLimits)
        definitions = [FunctionDefinition(path: [name], options: options, trigger: .taskQueue(trigger), handler: whole)]
    }
}
