import AdminProtocol
import EventLoop
import HearthJSON
import HTTP
import Logs
import RealtimeDatabase
import TaskQueues

/// `tasks`: lists task queues and their tasks, enqueues, pauses, resumes, purges; and `tasks/dead-letters`. Can be used from every loop.
package struct TaskAdministration: Sendable {
    private let engine: LoopBound<TaskEngine>
    private let service: TaskService
    private let outbox: any OutboxAccess
    private let home: EventLoop

    /// The most tasks in a list.
    private static let listedMax = 1000

    /// - Parameter outbox: the outbox of the tasks.
    package init(_ engine: TaskEngine, _ service: TaskService, outbox: any OutboxAccess, home: EventLoop) {
        self.engine = LoopBound(engine, loop: home)
        self.service = service
        self.outbox = outbox
        self.home = home
    }

    func answer(_ call: AdminCall, on loop: EventLoop) async throws(AdminError) -> JSONValue {
        if call.segments.count > 1, call.segments[1] == "dead-letters", call.verb.map({ $0 == "replay" || $0 == "delete" }) ?? true {
            return try await DeadLetterAdministration(outbox: outbox, loop: loop, depth: 2).handle(call)
        }
        let request = HomeCall(call)
        return try await home.perform { [engine, service] () async throws(AdminError) in
            try await Self.handle(request, engine.value, service)
        }
    }

    private static func handle(_ call: HomeCall, _ engine: TaskEngine, _ service: TaskService) async throws(AdminError) -> JSONValue {
        let queue = call.segments.count > 1 ? call.segments[1] : ""
        do throws(TaskEngine.Refusal) {
            switch (call.segments.count, call.verb) {
            case (1, nil) where call.method == .get:
                return TaskQueueList(queues: try await engine.listed().map { TaskQueueListEntry($0) }).json
            case (2, nil) where call.method == .get:
                return TaskList(tasks: try await engine.tasks(of: queue, limit: listedMax).map { TaskListEntry($0) }).json
            case (2, "pause") where call.method == .post, (2, "resume") where call.method == .post:
                let isPaused = call.verb == "pause"
                try await engine.setPaused(isPaused, queue)
                return TaskPauseAnswer(name: queue, paused: isPaused).json
            case (2, "purge") where call.method == .post:
                return TaskPurgeAnswer(deleted: try await engine.purge(queue)).json
            case (3, "run") where call.method == .post:
                try await engine.run(call.segments[2], of: queue)
                return TaskActAnswer(id: call.segments[2]).json
            case (3, nil) where call.method == .delete:
                try await engine.delete(call.segments[2], of: queue)
                return TaskActAnswer(id: call.segments[2]).json
            default: break
            }
        } catch {
            throw AdminError(error, queue)
        }
        switch (call.segments.count, call.verb) {
        case (2, "enqueue"):
            try call.allow(.post)
            return try await enqueue(queue, try TaskEnqueueRequest(parsing: call.body), engine, service).json
        case (1, nil), (2, nil): try call.allow(.get)
        case (2, "pause"), (2, "resume"), (2, "purge"), (3, "run"): try call.allow(.post)
        case (3, nil): try call.allow(.delete)
        default: break
        }
        throw .noSuchResource
    }

    private static func enqueue(
        _ queue: String, _ request: TaskEnqueueRequest, _ engine: TaskEngine, _ service: TaskService
    ) async throws(AdminError) -> TaskEnqueueAnswer {
        switch service.table.find(queue) {
        case .missing: throw AdminError(.unknown, queue)
        case .unknown: throw AdminError(.unavailable, queue)
        case .found: break
        }
        var task = NewTask(queue: queue, id: request.id, payload: request.data.serialized())
        if let delay = request.delaySeconds { task.due = WallClock.now().unixMilliseconds + Int64(delay * 1000) }
        let (checked, loop) = (task, engine.loop)
        let result: Result<EnqueuedTask, TaskError> = await withCheckedContinuation { continuation in
            service.enqueue(checked, on: loop) { continuation.resume(returning: $0) }
        }
        switch result {
        case .success(let enqueued):
            return TaskEnqueueAnswer(id: enqueued.id, due: WallClock(unixMilliseconds: enqueued.due).rfc3339)
        case .failure(let error): throw AdminError(error.code, error.message)
        }
    }
}

extension AdminError {
    fileprivate init(_ refusal: TaskEngine.Refusal, _ queue: String) {
        switch refusal {
        case .unknown: self.init(.notFound, "there is no task queue \(queue); `hearth tasks:list` lists all")
        case .noTask: self.init(.notFound, "there is no such task in \(queue); `hearth tasks:list \(queue)` lists all")
        case .unavailable: self.init(.unavailable, "the host is starting or stopping, or the store of tasks fails; try again")
        case .store(let reason): self.init(.unavailable, "the store of tasks cannot be used: \(reason)")
        }
    }
}

extension TaskQueueListEntry {
    fileprivate init(_ status: QueueStatus) {
        let state = status.isPaused ? "paused" : status.perSecondMax == nil ? "waiting" : "active"
        self.init(name: status.name, state: state, tasks: status.counts.count, bytes: status.counts.bytes)
        (perSecond, concurrent) = (status.perSecondMax, status.concurrentMax)
    }
}

extension TaskListEntry {
    fileprivate init(_ status: TaskStatus) {
        self.init(
            id: status.id, state: status.isLater ? "later" : "due", due: WallClock(unixMilliseconds: status.due).rfc3339,
            attempts: status.attempts, lastError: status.lastError)
    }
}
