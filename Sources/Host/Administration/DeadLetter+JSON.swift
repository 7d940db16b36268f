import AdminProtocol
import HearthJSON
import Logs
import RealtimeDatabase
import Tree

extension DeadLetterEntry {
    /// The entry of a list.
    init(_ letter: DeadLetter) {
        let event = letter.event
        self.init(
            id: "\(event.sequence)", event: event.id, function: event.function, type: event.kind.cloudEventType,
            path: event.path.description, reason: letter.reason.text, attempts: Int(event.progress.attempts),
            interruptions: Int(event.progress.interruptions), time: WallClock(unixMilliseconds: event.time).rfc3339,
            givenUpAt: WallClock(unixMilliseconds: letter.time).rfc3339, error: event.progress.lastError)
    }

    /// The entry with all details.
    init(inDetail letter: DeadLetter) {
        self.init(letter)
        let event = letter.event
        if event.kind.isOfValues { instance = event.namespace }
        params = JSONObject(event.params.map { ($0.name, .string($0.value)) })
        authType = event.origin.kind.text
        authId = event.origin.id
        if event.chain.depth > 0 { chain = event.chain.description }
        data = (try? JSONValue(parsing: event.payload)) ?? .null
    }
}
