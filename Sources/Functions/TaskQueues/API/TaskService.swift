import Configuration
import EventDelivery
import EventLoop
import Logs
import RealtimeDatabase
import Store

/// Enqueues and deletes tasks, for every loop.
package final class TaskService: Sendable {
    package let project: String
    package let table: TaskQueueTable
    let limits: TaskLimits
    private let storage: TaskStorage
    private let engine: LoopBound<TaskEngine>
    private let home: EventLoop
    private let clock: @Sendable () -> Int64

    /// The largest task, as for Cloud Tasks.
    static let taskBytesMax = 1 << 20
    /// How far ahead a task may be due: 30 days.
    static let aheadMilliseconds: Int64 = 30 * 24 * 3_600_000
    /// The bounds of the time for an attempt.
    static let limitMilliseconds: ClosedRange<Int64> = 15_000...1_800_000

    /// - Parameter clock: milliseconds since 1970.
    package init(
        _ engine: TaskEngine, limits: TaskLimits, project: String, clock: @escaping @Sendable () -> Int64 = { WallClock.now().unixMilliseconds }
    ) {
        self.project = project
        self.limits = limits
        self.clock = clock
        table = engine.table
        storage = engine.storage
        self.engine = LoopBound(engine, loop: engine.loop)
        home = engine.loop
    }

    /// Checks a task and stores it. Calls `completion` on `loop` when it is durable.
    package func enqueue(
        _ task: NewTask, on loop: EventLoop, completion: @escaping @Sendable (Result<EnqueuedTask, TaskError>) -> Void
    ) {
        do throws(TaskError) {
            try check(task)
        } catch {
            return loop.post { completion(.failure(error)) }
        }
        storage.perform(on: loop, { store throws(StoreError) in try store.enqueue(task) }) { [limits] result in
            switch result {
            case .success(.success(let enqueued)): completion(.success(enqueued))
            case .success(.failure(let refusal)): completion(.failure(TaskError(refusal, limits: limits)))
            case .failure(let error): completion(.failure(TaskError(error)))
            }
        }
    }

    /// Deletes a task. Calls `completion` on `loop` when that is durable.
    package func delete(
        _ id: String, of queue: String, on loop: EventLoop, completion: @escaping @Sendable (Result<Void, TaskError>) -> Void
    ) {
        storage.perform(on: loop, { store throws(StoreError) in try store.delete(id, of: queue) }) { [engine, home] result in
            switch result {
            case .success(true):
                home.post { engine.value.withdraw(id, through: .max, of: queue) }
                completion(.success(()))
            case .success(false): completion(.failure(.noTask))
            case .failure(let error): completion(.failure(TaskError(error)))
            }
        }
    }

    private func check(_ task: NewTask) throws(TaskError) {
        guard task.size <= Self.taskBytesMax else {
            throw .invalid("Task size too large: it has \(task.size) bytes, and at most \(Self.taskBytesMax) are allowed.")
        }
        if let id = task.id, !Self.isID(id) {
            throw .invalid("The task id \"\(id.prefix(100))\" must be 1 to 500 letters, digits, hyphens and underscores.")
        }
        if let due = task.due, due > clock() + Self.aheadMilliseconds {
            throw .invalid("The scheduleTime must be within the next 30 days.")
        }
        if let limit = task.limitMilliseconds, !Self.limitMilliseconds.contains(limit) {
            throw .invalid("The dispatchDeadline must be from 15 seconds to 30 minutes.")
        }
    }

    /// Whether the text can be the id of a task.
    static func isID(_ text: String) -> Bool {
        (1...500).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                    UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}

extension TaskLimits {
    package init(_ settings: TaskQueueSettings) {
        self.init()
        (tasksMax, bytesMax) = (settings.tasksMax, settings.bytesMax)
    }
}
