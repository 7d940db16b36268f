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
    private let trace: TraceContext?

    init(_ event: OutboxEvent, generation: Int, region: String, trace: TraceContext? = nil) {
        self.event = event
        self.generation = generation
        self.region = region
        self.trace = trace
    }

    func write(to buffer: inout ByteBuffer) {
        let ref = event.path.segments.joined(separator: "/")
        buffer.append("{\"event\":{\"id\":")
        buffer.append(jsonString: event.id)
        buffer.append(",\"type\":")
        buffer.append(jsonString: generation == 1 ? event.kind.legacyType : event.kind.cloudEventType)
        buffer.append(",\"source\":")
        buffer.append(jsonString: "//firebasedatabase.googleapis.com/projects/_/locations/\(region)/instances/\(event.namespace)")
        buffer.append(",\"subject\":")
        buffer.append(jsonString: "refs/\(ref)")
        buffer.append(",\"time\":")
        buffer.append(jsonString: WallClock(unixMilliseconds: event.time).rfc3339)
        buffer.append(",\"instance\":")
        buffer.append(jsonString: event.namespace)
        buffer.append(",\"ref\":")
        buffer.append(jsonString: ref)
        buffer.append(",\"location\":")
        buffer.append(jsonString: region)
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
}
