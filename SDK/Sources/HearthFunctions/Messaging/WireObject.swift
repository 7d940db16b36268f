internal import HearthJSON

/// An object of the wire's form while it is put together: what is not set is left out.
struct WireObject {
    private(set) var members = JSONObject()

    var isEmpty: Bool { members.isEmpty }
    var json: JSONValue { .object(members) }

    mutating func set(_ name: String, _ value: String?) {
        if let value { members[name] = .string(value) }
    }

    mutating func set(_ name: String, _ value: Bool?) {
        if let value { members[name] = .bool(value) }
    }

    mutating func set(_ name: String, _ value: Int?) {
        if let value { members[name] = .int(Int64(value)) }
    }

    mutating func set(_ name: String, _ values: [String]) {
        if !values.isEmpty { members[name] = .array(values.map { .string($0) }) }
    }

    mutating func set(_ name: String, _ map: [String: String]) {
        guard !map.isEmpty else { return }
        members[name] = .object(JSONObject(map.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) }))
    }

    mutating func set(_ name: String, _ duration: Duration?) {
        if let duration { members[name] = .string(duration.wire) }
    }

    mutating func set(_ name: String, json value: JSONValue?) {
        if let value { members[name] = value }
    }

    /// Adds an object, unless nothing in it is set.
    mutating func set(_ name: String, _ object: WireObject?) {
        if let object, !object.isEmpty { members[name] = object.json }
    }
}

extension Duration {
    /// A duration as JSON has it in Google's APIs: "3600s", "1.500000000s".
    var wire: String {
        let (seconds, attoseconds) = components
        guard attoseconds != 0 else { return "\(seconds)s" }
        let nanoseconds = (attoseconds / 1_000_000_000).magnitude
        let sign = seconds < 0 || attoseconds < 0 ? "-" : ""
        return "\(sign)\(seconds.magnitude).\(String(nanoseconds + 1_000_000_000).dropFirst())s"
    }
}
