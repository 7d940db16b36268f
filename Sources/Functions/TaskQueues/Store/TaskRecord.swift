import HTTP
import RealtimeDatabase
import Tree

/// A task that is to be enqueued.
package struct NewTask: Sendable, Equatable {
    /// The name of the queue, which is that of its function.
    package var queue: String
    /// The id that its enqueuer gives; nil for one that the store makes.
    package var id: String?
    /// The value for the function, in JSON.
    package var payload: [UInt8]
    /// The header fields for the function.
    package var headers: [EventParameter] = []
    /// In milliseconds since 1970; nil for now.
    package var due: Int64?
    /// How long an attempt may take; nil for the default.
    package var limitMilliseconds: Int64?
    /// The trace context of its enqueuer.
    package var trace: TraceContext?

    package init(queue: String, id: String? = nil, payload: [UInt8]) {
        self.queue = queue
        self.id = id
        self.payload = payload
    }

    /// The approximate size, as Cloud Tasks counts it.
    var size: Int { headers.reduce(payload.count + queue.utf8.count) { $0 + $1.name.utf8.count + $1.value.utf8.count } }
}

/// The answer to an enqueuer.
package struct EnqueuedTask: Sendable, Equatable {
    package var id: String
    /// In milliseconds since 1970.
    package var due: Int64
}

/// A task of a queue, for lists.
package struct TaskStatus: Sendable, Equatable {
    package var id: String
    /// The time from which on it may run, in milliseconds since 1970.
    package var due: Int64
    /// The attempts so far.
    package var attempts: Int
    package var lastError: String?
    /// Whether its time has not come.
    package var isLater: Bool
}

/// The tasks of a queue, in numbers.
package struct QueueCounts: Sendable, Equatable {
    package var isPaused = false
    /// Tasks that wait or run.
    package var count = 0
    /// The size of their rows.
    package var bytes = 0
}

/// The end of an act on the store.
package enum TaskRefusal: Error, Sendable, Equatable {
    /// A task of this name waits or runs, or has ended less than an hour ago.
    case exists
    /// There is no such task.
    case missing
    /// The queue has as many tasks as it may have.
    case full
}

extension OutboxEvent {
    /// The event of a task.
    init(_ task: NewTask, id: String, due: Int64) {
        var params = task.headers
        if let limit = task.limitMilliseconds { params.insert(EventParameter(name: Self.limitName, value: "\(limit)"), at: 0) }
        self.init(
            byHand: id, namespace: Outbox.tasks, function: task.queue, kind: .task, path: Self.path(ofTask: id, in: task.queue), params: params,
            payload: task.payload, time: due, origin: EventOrigin(.unknown))
        trace = task.trace
    }

    /// The path of a task, which no other one has: tasks of a queue do not wait for each other.
    static func path(ofTask id: String, in queue: String) -> Path { Path([queue, id]) }

    /// The name of the parameter with the time for an attempt. It cannot be the name of a header field.
    static let limitName = ":limit"

    /// How long an attempt may take, in milliseconds; nil for the default.
    var taskLimitMilliseconds: UInt64? { params.first { $0.name == Self.limitName }.flatMap { UInt64($0.value) } }
}
