/// The retries and the rate of a function's queue.
public struct TaskQueueTrigger: Sendable, Equatable {
    /// How a failed task is repeated.
    public var retry: BackoffRetry
    /// The most tasks that run at the same time.
    public var concurrentMax: Int
    /// The most attempts that begin in a second.
    public var perSecondMax: Double

    /// The defaults are those of Firebase.
    public init(retry: BackoffRetry = Self.standardRetry, concurrentMax: Int = 1000, perSecondMax: Double = 500) {
        self.retry = retry
        self.concurrentMax = concurrentMax
        self.perSecondMax = perSecondMax
    }

    /// The rate, for lists: `5/s`.
    public var rate: String { "\(perSecondMax.plain)/s" }

    /// Three attempts.
    public static let standardRetry = BackoffRetry(count: 2, minBackoffSeconds: 0.1, maxDoublings: 16)

    /// The type of the events, which the deployed state keeps as that of the trigger.
    public static let eventType = "google.cloud.tasks.task.v2.dispatched"

    /// The form in which the deployed state keeps a trigger.
    public var stored: EventTrigger {
        EventTrigger(eventType: Self.eventType, filters: [:], pathPatterns: [:], retry: false)
    }
}

/// The limits of task queues.
public struct TaskQueueSettings: Sendable, Equatable {
    /// The most tasks of a queue, waiting and running.
    public var tasksMax: Int
    /// The most bytes of these tasks.
    public var bytesMax: Int

    /// Limits of a queue.
    public init(tasksMax: Int = 1_000_000, bytesMax: Int = 1 << 30) {
        self.tasksMax = tasksMax
        self.bytesMax = bytesMax
    }
}

extension ConfigurationReader {
    func taskQueues(_ field: Field) -> TaskQueueSettings {
        TaskQueueSettings(tasksMax: field["maxTasks"].int, bytesMax: field["maxBytes"].int)
    }
}

extension ManifestReader {
    mutating func taskQueue(_ field: Field) -> TaskQueueTrigger {
        var trigger = TaskQueueTrigger()
        let attempts = field["retryConfig"]["maxAttempts"]
        trigger.retry = retries(field["retryConfig"], count: "maxAttempts", TaskQueueTrigger.standardRetry)
        if let given = attempts.intIfPresent {
            if given == 0 { fail(attempts, "maxAttempts is 0; there is at least 1, and -1 stands for as many as needed") }
            trigger.retry.count = given == -1 ? .max : given - 1
        }
        let limits = field["rateLimits"]
        trigger.concurrentMax = limits["maxConcurrentDispatches"].intIfPresent ?? trigger.concurrentMax
        trigger.perSecondMax = limits["maxDispatchesPerSecond"].doubleIfPresent ?? trigger.perSecondMax
        return trigger
    }
}
