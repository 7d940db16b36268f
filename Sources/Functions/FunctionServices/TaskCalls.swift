import AdminProtocol
import EventLoop
import FunctionDispatch
import HearthBytes
import HearthJSON
import Logs
import TaskQueues

/// The task queues for functions. `docs/services.md` describes its methods, payloads and answers. Belongs to the dispatcher's loop.
package final class TaskCalls: Service {
    package let name = "tasks"
    private let tasks: TaskService
    private let loop: EventLoop

    /// A task has at most 1 MiB.
    static let payloadBytesMax = 2 << 20

    package init(_ tasks: TaskService, loop: EventLoop) {
        self.tasks = tasks
        self.loop = loop
    }

    package func handle(_ call: ServiceCall, completion: @escaping (ServiceAnswer) -> Void) {
        let answer = LoopBound(completion, loop: loop)
        do throws(TaskError) {
            guard call.payload.count <= Self.payloadBytesMax else {
                throw TaskError(.invalidArgument, "the payload has more than \(Self.payloadBytesMax >> 20) MiB")
            }
            let request = try TaskCallRequest(call.payload)
            try check(request.queue)
            switch call.method {
            case "enqueue":
                var task = try request.task()
                // The task begins a chain of events of its own: a function may enqueue its next task without end, at the rate of its queue.
                task.trace = call.trace
                tasks.enqueue(task, on: loop) { result in
                    switch result {
                    case .success(let enqueued):
                        answer.value(
                            .success([
                                "id": .string(enqueued.id), "scheduledTime": .string(WallClock(unixMilliseconds: enqueued.due).rfc3339),
                            ]))
                    case .failure(let error): answer.value(.failure(error.code, error.message))
                    }
                }
            case "delete":
                guard let id = request.id else { throw TaskError(.invalidArgument, "the payload has no id") }
                tasks.delete(id, of: request.queue, on: loop) { result in
                    switch result {
                    case .success: answer.value(.success(.null))
                    case .failure(let error): answer.value(.failure(error.code, error.message))
                    }
                }
            default: throw TaskError(.unimplemented, "tasks has no method \"\(call.method)\"; it has enqueue, delete")
            }
        } catch {
            completion(.failure(error.code, error.message))
        }
    }

    private func check(_ queue: String) throws(TaskError) {
        switch tasks.table.find(queue) {
        case .found: break
        case .missing: throw TaskError(.notFound, "no function \(queue.prefix(100)) has a task queue")
        case .unknown: throw TaskError(.unavailable, "the functions are being loaded; try again")
        }
    }
}

/// The payload of a call: `{"queue", "id", "data", "headers", "scheduleTime", "scheduleDelaySeconds", "dispatchDeadlineSeconds"}`.
private struct TaskCallRequest {
    private let text: [UInt8]
    private var members: [String: Range<Int>] = [:]
    let queue: String
    let id: String?

    private static let names: Set<String> = [
        "queue", "id", "data", "headers", "scheduleTime", "scheduleDelaySeconds", "dispatchDeadlineSeconds",
    ]

    init(_ text: [UInt8]) throws(TaskError) {
        self.text = text
        var found: [String: Range<Int>] = [:]
        let kind: JSONKind
        do throws(JSONError) {
            kind = try JSONScan.members(of: text.span) { name, range, _ in found[name.string()] = range }.kind
        } catch {
            throw TaskError(.invalidArgument, "the payload is not JSON: \(error.explanation(in: text.span))")
        }
        guard kind == .object else { throw TaskError(.invalidArgument, "the payload is not an object") }
        if let unknown = found.keys.first(where: { !Self.names.contains($0) }) {
            throw TaskError(.invalidArgument, "the payload has a member \"\(unknown.prefix(100))\", which is unknown")
        }
        members = found
        let value = { (name: String) in found[name].flatMap { try? JSONValue(parsing: text.span.extracting($0)) } }
        guard let queue = value("queue")?.string else { throw TaskError(.invalidArgument, "queue is not a string") }
        self.queue = queue
        let id = value("id")
        guard id == nil || id == .null || id?.string != nil else { throw TaskError(.invalidArgument, "id is not a string") }
        self.id = id?.string
    }

    private func value(_ name: String) -> JSONValue? {
        guard let range = members[name], let value = try? JSONValue(parsing: text.span.extracting(range)), !value.isNull else { return nil }
        return value
    }

    func task() throws(TaskError) -> NewTask {
        var task = NewTask(queue: queue, id: id, payload: members["data"].map { Array(text[$0]) } ?? Array("null".utf8))
        task.headers = try TaskRequestReader.headers(value("headers"))
        if let time = value("scheduleTime") {
            guard let microseconds = time.string.flatMap({ WallClock.microseconds(rfc3339: $0) }) else {
                throw TaskError(.invalidArgument, "scheduleTime is not a time of RFC 3339")
            }
            task.due = (microseconds + 999) / 1000
        }
        if let delay = try seconds("scheduleDelaySeconds") {
            guard task.due == nil else { throw TaskError(.invalidArgument, "scheduleTime and scheduleDelaySeconds exclude each other") }
            task.due = WallClock.now().unixMilliseconds + delay
        }
        task.limitMilliseconds = try seconds("dispatchDeadlineSeconds")
        return task
    }

    /// A number of seconds, in milliseconds.
    private func seconds(_ name: String) throws(TaskError) -> Int64? {
        guard let value = value(name) else { return nil }
        guard let seconds = value.double, seconds >= 0, seconds < 1e10 else {
            throw TaskError(.invalidArgument, "\(name) is not a number of seconds")
        }
        return Int64(seconds * 1000)
    }
}
