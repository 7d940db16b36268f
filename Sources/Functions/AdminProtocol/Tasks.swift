package import HearthJSON

/// A queue in the list of task queues.
package struct TaskQueueListEntry: AdminMessage {
    /// The name of the function.
    package var name: String
    /// `active`, `paused`, or `waiting` while the function cannot run.
    package var state: String
    /// Tasks that wait or run, and their size.
    package var tasks: Int
    package var bytes: Int
    /// The most attempts that begin in a second; nil while the function cannot run.
    package var perSecond: Double?
    /// The most tasks that run at the same time.
    package var concurrent: Int?

    package init(name: String, state: String, tasks: Int, bytes: Int) {
        self.name = name
        self.state = state
        self.tasks = tasks
        self.bytes = bytes
    }
}

/// The answer to `GET tasks`.
package struct TaskQueueList: AdminMessage {
    /// In the order of names.
    package var queues: [TaskQueueListEntry]

    package init(queues: [TaskQueueListEntry]) { self.queues = queues }
}

/// A task in the list of a queue.
package struct TaskListEntry: AdminMessage {
    package var id: String
    /// `due`, or `later` before its time.
    package var state: String
    /// The time from which on it may run, RFC 3339.
    package var due: String
    /// Failed attempts.
    package var attempts: Int
    /// The error of the last attempt.
    package var lastError: String?

    package init(id: String, state: String, due: String, attempts: Int, lastError: String?) {
        self.id = id
        self.state = state
        self.due = due
        self.attempts = attempts
        self.lastError = lastError
    }
}

/// The answer to `GET tasks/QUEUE`.
package struct TaskList: AdminMessage {
    /// First those that are due.
    package var tasks: [TaskListEntry]

    package init(tasks: [TaskListEntry]) { self.tasks = tasks }
}

/// `POST tasks/QUEUE:enqueue`.
package struct TaskEnqueueRequest: AdminMessage {
    /// The value for the function.
    package var data: JSONValue
    package var id: String?
    package var delaySeconds: Double?

    package init(data: JSONValue, id: String?, delaySeconds: Double?) {
        self.data = data
        self.id = id
        self.delaySeconds = delaySeconds
    }

    /// Reads and checks a request.
    package init(parsing body: JSONValue) throws(AdminError) {
        data = body["data"] ?? .null
        if let id = body["id"], !id.isNull {
            guard let text = id.string else { throw .invalid("id must be a string") }
            self.id = text
        }
        if let delay = body["delaySeconds"], !delay.isNull {
            guard let seconds = delay.double, seconds >= 0, seconds < 1e10 else { throw .invalid("delaySeconds must be a number from 0 on") }
            delaySeconds = seconds
        }
    }
}

/// The answer to `POST tasks/QUEUE:enqueue`.
package struct TaskEnqueueAnswer: AdminMessage {
    package var id: String
    /// The time from which on it may run, RFC 3339.
    package var due: String

    package init(id: String, due: String) {
        self.id = id
        self.due = due
    }
}

/// The answer to `POST tasks/QUEUE:purge`.
package struct TaskPurgeAnswer: AdminMessage {
    /// The number of deleted tasks.
    package var deleted: Int

    package init(deleted: Int) { self.deleted = deleted }
}

/// The answer to `POST tasks/QUEUE:pause` and `:resume`.
package struct TaskPauseAnswer: AdminMessage {
    package var name: String
    package var paused: Bool

    package init(name: String, paused: Bool) {
        self.name = name
        self.paused = paused
    }
}

/// The answer to `POST tasks/QUEUE/ID:run` and `DELETE tasks/QUEUE/ID`.
package struct TaskActAnswer: AdminMessage {
    package var id: String

    package init(id: String) { self.id = id }
}
