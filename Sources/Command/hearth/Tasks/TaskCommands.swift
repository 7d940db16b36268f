import AdminProtocol
import ArgumentParser
import CommandClient
import HearthJSON

/// The admin API for task queues.
struct TasksClient {
    let client: HostClient

    func queues() throws(ClientFailure) -> TaskQueueList { try client.administer(TaskQueueList.self, "GET", "tasks") }

    func tasks(of queue: String) throws(ClientFailure) -> TaskList { try client.administer(TaskList.self, "GET", place(queue)) }

    func enqueue(_ request: TaskEnqueueRequest, in queue: String) throws(ClientFailure) -> TaskEnqueueAnswer {
        try client.administer(TaskEnqueueAnswer.self, "POST", "\(place(queue)):enqueue", request.json)
    }

    func setPaused(_ isPaused: Bool, _ queue: String) throws(ClientFailure) -> TaskPauseAnswer {
        try client.administer(TaskPauseAnswer.self, "POST", "\(place(queue)):\(isPaused ? "pause" : "resume")", [:])
    }

    func purge(_ queue: String) throws(ClientFailure) -> TaskPurgeAnswer {
        try client.administer(TaskPurgeAnswer.self, "POST", "\(place(queue)):purge", [:])
    }

    func run(_ id: String, of queue: String) throws(ClientFailure) -> TaskActAnswer {
        try client.administer(TaskActAnswer.self, "POST", "\(place(queue))/\(PercentCoding.encoded(id)):run", [:])
    }

    func delete(_ id: String, of queue: String) throws(ClientFailure) -> TaskActAnswer {
        try client.administer(TaskActAnswer.self, "DELETE", "\(place(queue))/\(PercentCoding.encoded(id))")
    }

    private func place(_ queue: String) -> String { "tasks/\(PercentCoding.encoded(queue))" }
}

/// The queue that a command is about.
struct QueueArgument: ParsableArguments {
    @Argument(help: ArgumentHelp("The queue, which has the name of its function.", valueName: "queue"))
    var queue: String
}

/// `hearth tasks:list`: lists task queues, or the tasks of one.
struct TasksList: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "tasks:list", abstract: "Lists task queues, or the tasks of a queue.",
        discussion: """
            Of a queue, the first 1000 tasks are shown: those that are due, then those that wait for their time.

            Examples:
              hearth tasks:list
              hearth tasks:list sendMail
            """)

    @Argument(help: ArgumentHelp("The queue. (default: all queues)", valueName: "queue"))
    var queue: String?

    @OptionGroup var connection: ConnectionOptions

    func perform(_ client: HostClient) throws(ClientFailure) -> Outcome {
        let tasks = TasksClient(client: client)
        if let queue {
            let list = try tasks.tasks(of: queue)
            guard !list.tasks.isEmpty else { return Outcome(text: "No tasks.", json: list.json) }
            let rows = list.tasks.map { [$0.id, $0.state, $0.due, "\($0.attempts)", $0.lastError ?? "-"] }
            return Outcome(text: TextTable.lines([["TASK", "STATE", "DUE", "ATTEMPTS", "ERROR"]] + rows).joined(separator: "\n"), json: list.json)
        }
        let list = try tasks.queues()
        guard !list.queues.isEmpty else { return Outcome(text: "No task queues.", json: list.json) }
        let rows = list.queues.map { queue in
            [
                queue.name, queue.state, "\(queue.tasks)", "\(queue.bytes)", queue.perSecond.map(Self.text) ?? "-",
                queue.concurrent.map { "\($0)" } ?? "-",
            ]
        }
        let heading = ["QUEUE", "STATE", "TASKS", "BYTES", "PER SECOND", "CONCURRENT"]
        return Outcome(text: TextTable.lines([heading] + rows).joined(separator: "\n"), json: list.json)
    }

    private static func text(_ number: Double) -> String { Int(exactly: number).map { "\($0)" } ?? "\(number)" }
}

/// `hearth tasks:enqueue`: puts a task into a queue.
struct TasksEnqueue: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "tasks:enqueue", abstract: "Puts a task into a queue.",
        discussion: """
            Examples:
              hearth tasks:enqueue sendMail '{"to": "ada@example.com"}'
              hearth tasks:enqueue sendMail @mail.json --delay 60 --id welcome-ada
            """)

    @OptionGroup var queue: QueueArgument

    @Argument(help: ArgumentHelp("The data: JSON, @FILE, or - for standard input. (default: null)", valueName: "data"))
    var data: String?

    @Option(help: ArgumentHelp("An ID, which no other task may have until an hour after the end of this one.", valueName: "id"))
    var id: String?

    @Option(help: ArgumentHelp("The time before the first attempt.", valueName: "seconds"))
    var delay: Double?

    @OptionGroup var connection: ConnectionOptions

    func perform(_ client: HostClient) throws(ClientFailure) -> Outcome {
        let value = try CallData.json(data) ?? .null
        let answer = try TasksClient(client: client).enqueue(TaskEnqueueRequest(data: value, id: id, delaySeconds: delay), in: queue.queue)
        return Outcome(text: "\(answer.id) is in \(queue.queue), due \(answer.due)", json: answer.json)
    }
}

/// `hearth tasks:run`: makes a task due.
struct TasksRun: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "tasks:run", abstract: "Makes a task due whose time has not come.",
        discussion: """
            The rate of the queue and a pause apply as for other tasks.

            Example:
              hearth tasks:run sendMail welcome-ada
            """)

    @OptionGroup var queue: QueueArgument

    @Argument(help: ArgumentHelp("The task that tasks:list shows.", valueName: "id"))
    var id: String

    @OptionGroup var connection: ConnectionOptions

    func perform(_ client: HostClient) throws(ClientFailure) -> Outcome {
        let answer = try TasksClient(client: client).run(id, of: queue.queue)
        return Outcome(text: "\(answer.id) is due", json: answer.json)
    }
}

/// `hearth tasks:delete`: deletes a task.
struct TasksDelete: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "tasks:delete", abstract: "Deletes a task. If it runs, it may end, and is not repeated.",
        discussion: """
            Example:
              hearth tasks:delete sendMail welcome-ada
            """)

    @OptionGroup var queue: QueueArgument

    @Argument(help: ArgumentHelp("The task that tasks:list shows.", valueName: "id"))
    var id: String

    @OptionGroup var connection: ConnectionOptions

    func perform(_ client: HostClient) throws(ClientFailure) -> Outcome {
        let answer = try TasksClient(client: client).delete(id, of: queue.queue)
        return Outcome(text: "\(answer.id) is deleted", json: answer.json)
    }
}

/// `hearth tasks:purge`: deletes all tasks of a queue.
struct TasksPurge: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "tasks:purge", abstract: "Deletes all tasks of a queue. Those that run may end, and are not repeated.",
        discussion: """
            Example:
              hearth tasks:purge sendMail
            """)

    @OptionGroup var queue: QueueArgument
    @OptionGroup var connection: ConnectionOptions

    func perform(_ client: HostClient) throws(ClientFailure) -> Outcome {
        let answer = try TasksClient(client: client).purge(queue.queue)
        let what = answer.deleted == 1 ? "1 task of \(queue.queue) is" : "\(answer.deleted) tasks of \(queue.queue) are"
        return Outcome(text: "\(what) deleted", json: answer.json)
    }
}

/// `hearth tasks:pause`: pauses a queue.
struct TasksPause: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "tasks:pause", abstract: "Pauses a queue until it is resumed, also beyond restarts and deployments.",
        discussion: """
            Tasks that run may end. Others can be enqueued, and wait.

            Example:
              hearth tasks:pause sendMail
            """)

    @OptionGroup var queue: QueueArgument
    @OptionGroup var connection: ConnectionOptions

    func perform(_ client: HostClient) throws(ClientFailure) -> Outcome {
        let answer = try TasksClient(client: client).setPaused(true, queue.queue)
        return Outcome(text: "\(answer.name) is paused", json: answer.json)
    }
}

/// `hearth tasks:resume`: resumes a queue.
struct TasksResume: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "tasks:resume", abstract: "Resumes a paused queue.",
        discussion: """
            Example:
              hearth tasks:resume sendMail
            """)

    @OptionGroup var queue: QueueArgument
    @OptionGroup var connection: ConnectionOptions

    func perform(_ client: HostClient) throws(ClientFailure) -> Outcome {
        let answer = try TasksClient(client: client).setPaused(false, queue.queue)
        return Outcome(text: "\(answer.name) is active", json: answer.json)
    }
}
