import EventDelivery
import HearthJSON
import RealtimeDatabase

/// The events on which functions of the old host still work, and their results, as messages.
enum RunningEvents {
    /// The events of one message.
    private static let countMax = 200

    /// Messages with all events.
    static func messages(_ events: [RunningEvent]) -> [[UInt8]] {
        stride(from: 0, to: events.count, by: countMax).map { start in
            let some = events[start..<min(start + countMax, events.count)].map { JSONValue.object(object($0)) }
            return UpgradeMessage.running.bytes(.object(["events": .array(some)]))
        }
    }

    static func events(_ bytes: ArraySlice<UInt8>) -> [RunningEvent] {
        let said = (try? JSONValue(parsing: Array(bytes))) ?? .null
        return (said["events"]?.array ?? []).compactMap(event)
    }

    /// The message with the result of one event.
    static func message(_ event: RunningEvent, _ result: AttemptResult) -> [UInt8] {
        var members = object(event)
        switch result {
        case .succeeded: members["result"] = "succeeded"
        case .failed(let error): (members["result"], members["error"]) = ("failed", .string(shortened(error)))
        case .interrupted(let error): (members["result"], members["error"]) = ("interrupted", .string(shortened(error)))
        case .refused, .stopped: members["result"] = "stopped"
        }
        return UpgradeMessage.result.bytes(.object(members))
    }

    /// An error that fits into a message.
    private static func shortened(_ error: String) -> String { String(error.prefix(10_000)) }

    static func result(_ bytes: ArraySlice<UInt8>) -> (RunningEvent, AttemptResult)? {
        guard let said = try? JSONValue(parsing: Array(bytes)), let event = event(said) else { return nil }
        let error = said["error"]?.string ?? ""
        switch said["result"]?.string {
        case "succeeded": return (event, .succeeded)
        case "failed": return (event, .failed(error))
        case "interrupted": return (event, .interrupted(error))
        default: return (event, .stopped)
        }
    }

    private static func object(_ event: RunningEvent) -> JSONObject {
        // A sequence is larger than a number of JSON may be.
        ["namespace": .string(event.namespace), "function": .string(event.key.function), "sequence": .string("\(event.key.sequence)")]
    }

    private static func event(_ value: JSONValue) -> RunningEvent? {
        guard let namespace = value["namespace"]?.string, let function = value["function"]?.string,
            let sequence = value["sequence"]?.string.flatMap(UInt64.init)
        else { return nil }
        return RunningEvent(namespace: namespace, key: EventKey(function: function, sequence: sequence))
    }
}
