import HearthJSON
import Logs
import RealtimeDatabase
import Tree

extension DeadLetter {
    /// What a list shows.
    var summary: JSONObject {
        var object: JSONObject = [
            "id": .string("\(event.sequence)"), "event": .string(event.id), "function": .string(event.function),
            "type": .string(event.kind.cloudEventType), "path": .string(event.path.description), "reason": .string(reason.text),
            "attempts": JSONValue(event.progress.attempts), "interruptions": JSONValue(event.progress.interruptions),
            "time": .string(WallClock(unixMilliseconds: event.time).rfc3339), "givenUpAt": .string(WallClock(unixMilliseconds: time).rfc3339),
        ]
        object["error"] = event.progress.lastError.map { .string($0) }
        return object
    }

    /// Everything that is known of it.
    var details: JSONObject {
        var object = summary
        object["instance"] = .string(event.namespace)
        object["params"] = .object(JSONObject(event.params.map { ($0.name, .string($0.value)) }))
        object["authType"] = .string(event.origin.kind.text)
        object["authId"] = event.origin.id.map { .string($0) }
        if event.chain.depth > 0 { object["chain"] = .string(event.chain.description) }
        object["data"] = (try? JSONValue(parsing: event.payload)) ?? .null
        return object
    }
}
