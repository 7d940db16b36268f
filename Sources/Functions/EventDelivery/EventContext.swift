import AdminProtocol
import FunctionDispatch
import HearthBytes
import HearthJSON
import HTTP
import Logs
import RealtimeDatabase
import Tree

/// The member `event` of an invocation's context, as described in hearth.h (spec functions 8.5).
struct EventContext {
    private let event: OutboxEvent
    private let generation: Int
    private let region: String
    private let project: String
    private let trace: TraceContext?

    init(_ event: OutboxEvent, generation: Int, region: String, project: String, trace: TraceContext? = nil) {
        self.event = event
        self.generation = generation
        self.region = region
        self.project = project
        self.trace = trace
    }

    func write(to buffer: inout ByteBuffer) {
        buffer.append("{\"event\":{\"id\":")
        buffer.append(jsonString: event.id)
        buffer.append(",\"type\":")
        buffer.append(jsonString: generation == 1 ? event.kind.legacyType : event.kind.cloudEventType)
        if event.kind.isOfUsers {
            writeUser(to: &buffer)
        } else if event.kind == .scheduled {
            writeSchedule(to: &buffer)
        } else if event.kind == .task {
            writeTask(to: &buffer)
        } else {
            writePlace(to: &buffer)
        }
        // The parameters of a task are its header fields.
        write(event.kind == .task ? [] : event.params, as: ",\"params\":{", to: &buffer)
        buffer.append(",\"authType\":")
        buffer.append(jsonString: event.origin.kind.text)
        if let id = event.origin.id {
            buffer.append(",\"authId\":")
            buffer.append(jsonString: id)
        }
        buffer.append(",\"attempt\":")
        buffer.append(decimal: event.progress.attempts + event.progress.interruptions + 1)
        buffer.append(",\"chainDepth\":")
        buffer.append(decimal: event.chain.depth)
        buffer.append("}")
        if let trace { buffer.append(trace) }
        buffer.append("}")
    }

    private func write(_ parameters: [EventParameter], as name: StaticString, to buffer: inout ByteBuffer) {
        buffer.append(name)
        for (index, parameter) in parameters.enumerated() {
            if index > 0 { buffer.append(UInt8(ascii: ",")) }
            buffer.append(jsonString: parameter.name)
            buffer.append(UInt8(ascii: ":"))
            buffer.append(jsonString: parameter.value)
        }
        buffer.append("}")
    }

    private func write(_ name: StaticString, _ text: String, to buffer: inout ByteBuffer) {
        buffer.append(name)
        buffer.append(jsonString: text)
    }

    /// The database and the path of a value.
    private func writePlace(to buffer: inout ByteBuffer) {
        let ref = event.path.segments.joined(separator: "/")
        write(",\"source\":", "//firebasedatabase.googleapis.com/projects/_/locations/\(region)/instances/\(event.namespace)", to: &buffer)
        write(",\"subject\":", "refs/\(ref)", to: &buffer)
        write(",\"time\":", WallClock(unixMilliseconds: event.time).rfc3339, to: &buffer)
        write(",\"instance\":", event.namespace, to: &buffer)
        write(",\"ref\":", ref, to: &buffer)
        write(",\"location\":", region, to: &buffer)
    }

    /// The job of a schedule and its due time.
    private func writeSchedule(to buffer: inout ByteBuffer) {
        let job = "firebase-schedule-\(event.function)-\(region)"
        let time = WallClock(unixMilliseconds: event.time).rfc3339
        write(",\"source\":", "//cloudscheduler.googleapis.com/projects/\(project)/locations/\(region)/jobs/\(job)", to: &buffer)
        write(",\"time\":", time, to: &buffer)
        write(",\"jobName\":", job, to: &buffer)
        write(",\"scheduleTime\":", time, to: &buffer)
        write(",\"location\":", region, to: &buffer)
    }

    /// The queue of a task, and the attempts so far.
    private func writeTask(to buffer: inout ByteBuffer) {
        let time = WallClock(unixMilliseconds: event.time).rfc3339
        let progress = event.progress
        write(
            ",\"source\":", "//cloudtasks.googleapis.com/projects/\(project)/locations/\(region)/queues/\(event.function)", to: &buffer)
        write(",\"time\":", time, to: &buffer)
        write(",\"queueName\":", event.function, to: &buffer)
        write(",\"scheduledTime\":", time, to: &buffer)
        write(",\"location\":", region, to: &buffer)
        buffer.append(",\"retryCount\":")
        buffer.append(decimal: progress.attempts + progress.interruptions)
        // An attempt whose worker has ended got no response.
        buffer.append(",\"executionCount\":")
        buffer.append(decimal: progress.attempts)
        if let error = progress.lastError {
            buffer.append(",\"previousResponse\":")
            buffer.append(decimal: Self.status(ofError: error))
            write(",\"retryReason\":", error, to: &buffer)
        }
        write(event.params.filter { !$0.name.hasPrefix(":") }, as: ",\"headers\":{", to: &buffer)
    }

    /// The HTTP status that Firebase would have got for an attempt with this error.
    private static func status(ofError error: String) -> Int {
        guard let colon = error.firstIndex(of: ":"), let code = FunctionErrorCode(name: String(error[..<colon])) else { return 500 }
        return code.httpStatus
    }

    /// The project and the id of a user.
    private func writeUser(to buffer: inout ByteBuffer) {
        let tenant = event.params.first.map { "/tenants/\($0.value)" } ?? ""
        write(",\"source\":", "//firebaseauth.googleapis.com/projects/\(project)\(tenant)", to: &buffer)
        write(",\"subject\":", UserEvent.subject(of: event.path), to: &buffer)
        write(",\"time\":", WallClock(unixMilliseconds: event.time).rfc3339, to: &buffer)
        write(",\"location\":", region, to: &buffer)
    }
}
