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
        } else {
            writePlace(to: &buffer)
        }
        buffer.append(",\"params\":{")
        for (index, parameter) in event.params.enumerated() {
            if index > 0 { buffer.append(UInt8(ascii: ",")) }
            buffer.append(jsonString: parameter.name)
            buffer.append(UInt8(ascii: ":"))
            buffer.append(jsonString: parameter.value)
        }
        buffer.append("},\"authType\":")
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

    /// The project and the id of a user.
    private func writeUser(to buffer: inout ByteBuffer) {
        let tenant = event.params.first.map { "/tenants/\($0.value)" } ?? ""
        write(",\"source\":", "//firebaseauth.googleapis.com/projects/\(project)\(tenant)", to: &buffer)
        write(",\"subject\":", UserEvent.subject(of: event.path), to: &buffer)
        write(",\"time\":", WallClock(unixMilliseconds: event.time).rfc3339, to: &buffer)
        write(",\"location\":", region, to: &buffer)
    }
}
