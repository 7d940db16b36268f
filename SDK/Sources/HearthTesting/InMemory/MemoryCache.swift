import Glibc
internal import HearthFunctions
internal import HearthJSON

/// A cache in memory, with the methods of the host's service `cache`. Its size is not limited.
struct MemoryCache {
    private struct Entry {
        var value: JSONValue
        /// When the value ends, in seconds of the monotonic clock.
        var end: Double
    }

    private var entries: [String: Entry] = [:]
    /// Time that a test has let pass.
    private var passedSeconds = 0.0

    /// Lets time pass for all values.
    mutating func advance(seconds: Double) { passedSeconds += seconds }

    /// Answers a call of the service.
    mutating func call(_ method: String, _ payload: [UInt8]) -> ServiceOutcome {
        let request = (try? JSONValue(parsing: payload)) ?? .null
        guard let key = request["key"]?.string, (1...512).contains(key.utf8.count) else {
            return Self.refusal("invalid-argument", "\"key\" must be a string of 1 to 512 bytes")
        }
        let seconds = request["ttlSeconds"]?.double
        if let seconds, seconds <= 0 || seconds > 2_592_000 { return Self.refusal("invalid-argument", "\"ttlSeconds\" must be up to 2592000") }
        let now = now
        if let entry = entries[key], entry.end <= now { entries[key] = nil }
        let end = seconds.map { now + $0 } ?? .infinity
        let known = entries[key]
        switch method {
        case "get": return .value(known.map { ["value": $0.value] } ?? [:])
        case "set", "setIfAbsent":
            guard let value = request["value"] else { return Self.refusal("invalid-argument", "\"value\" is missing") }
            if method == "setIfAbsent", known != nil { return .value(["stored": false]) }
            entries[key] = Entry(value: value, end: end)
            return .value(method == "set" ? .null : ["stored": true])
        case "delete": return .value(["deleted": .bool(entries.removeValue(forKey: key) != nil)])
        case "increment":
            guard case .int(let number) = known?.value ?? .int(0), case .int(let by) = request["by"] ?? .int(1) else {
                return Self.refusal("not-a-number", "the value is not an integer")
            }
            let (sum, overflows) = number.addingReportingOverflow(by)
            guard !overflows else { return Self.refusal("not-a-number", "the sum is not an integer of 64 bits") }
            entries[key] = Entry(value: .int(sum), end: known?.end ?? end)
            return .value(["value": .int(sum)])
        default: return Self.refusal("unknown-method", "cache has no method \"\(method)\"")
        }
    }

    private static func refusal(_ reason: String, _ message: String) -> ServiceOutcome {
        let error: JSONValue = ["code": "invalid-argument", "message": .string(message), "details": ["reason": .string(reason)]]
        return ServiceOutcome(isOK: false, body: error.serialized())
    }

    private var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9 + passedSeconds
    }
}
