internal import HearthFunctions
internal import HearthJSON

/// Why the in-memory database refuses a call.
struct MemoryRefusal: Error {
    var reason: String
    var code: String
    var message: String

    static func invalid(_ message: String) -> MemoryRefusal { MemoryRefusal(reason: "invalid-argument", code: "invalid-argument", message: message) }

    func answer(path: String) -> ServiceOutcome {
        let error: JSONValue = ["code": .string(code), "message": .string(message), "details": ["reason": .string(reason), "path": .string(path)]]
        return ServiceOutcome(isOK: false, body: error.serialized())
    }
}

/// Operations on the values of the in-memory database.
///
/// A value is held in the form of an export: null for nothing, a scalar, or an object of children. A scalar with a priority is
/// `{".value": v, ".priority": p}`; an object with one has the member `.priority`.
enum MemoryTree {
    private static let keyBytesMax = 768
    private static let depthMax = 32

    /// The keys of a path.
    static func keys(_ path: String) throws(MemoryRefusal) -> [String] {
        let keys = path.split(separator: "/").map(String.init)
        guard keys.count <= depthMax else { throw .invalid("A path has at most \(depthMax) keys, and this one has \(keys.count).") }
        for key in keys { try check(key) }
        return keys
    }

    private static func check(_ key: String) throws(MemoryRefusal) {
        guard !key.isEmpty, key.utf8.count <= keyBytesMax else {
            throw .invalid("A key has 1 to \(keyBytesMax) bytes, and \"\(key.prefix(20))\" has \(key.utf8.count).")
        }
        guard key.utf8.allSatisfy({ $0 >= 32 && $0 != 127 && !".#$[]/".utf8.contains($0) }) else {
            throw .invalid("The key \"\(key)\" has a character that keys may not have: . # $ [ ] / or a control character.")
        }
    }

    // MARK: Reading

    /// The children of a value by their keys.
    static func children(of node: JSONValue) -> [(key: String, value: JSONValue)] {
        guard case .object(let members) = node, members[".value"] == nil else { return [] }
        return members.filter { $0.key != ".priority" }.map { ($0.key, $0.value) }
    }

    /// The priority of a value; null for none.
    static func priority(of node: JSONValue) -> JSONValue { node.object?[".priority"] ?? .null }

    /// The value below `node`; null where there is none.
    static func node(_ node: JSONValue, at keys: some Collection<String>) -> JSONValue {
        keys.reduce(node) { node, key in
            guard case .object(let members) = node, members[".value"] == nil else { return .null }
            return members[key] ?? .null
        }
    }

    /// The value with its children in the order of their keys.
    static func ordered(_ node: JSONValue) -> JSONValue {
        guard case .object(let members) = node else { return node }
        let sorted = members.map { (rank: KeyRank($0.key), key: $0.key, value: ordered($0.value)) }.sorted { $0.rank < $1.rank }
        return .object(JSONObject(sorted.map { ($0.key, $0.value) }))
    }

    /// The value without its priorities.
    static func stripped(_ node: JSONValue) -> JSONValue {
        guard case .object(let members) = node else { return node }
        if let value = members[".value"] { return value }
        return .object(JSONObject(members.filter { $0.key != ".priority" }.map { ($0.key, stripped($0.value)) }))
    }

    /// A text that differs for different values.
    static func etag(_ node: JSONValue) -> String {
        if node.isNull { return "null_etag" }
        let hash = ordered(node).serialized().reduce(into: UInt64(0xCBF2_9CE4_8422_2325)) { $0 = ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return String(hash, radix: 16)
    }

    // MARK: Writing

    /// `node` with the value at `keys` replaced. A parent that has no children left goes too.
    static func replacing(_ node: JSONValue, at keys: ArraySlice<String>, with value: JSONValue) -> JSONValue {
        guard let key = keys.first else { return value }
        let child = replacing(self.node(node, at: [key]), at: keys.dropFirst(), with: value)
        var members = children(of: node).isEmpty ? JSONObject() : node.object ?? JSONObject()
        if child.isNull {
            // Nothing is removed below a scalar.
            if members.isEmpty { return node }
            members[key] = nil
        } else {
            members[key] = child
            if let priority = node.object?[".priority"] { members[".priority"] = priority }
        }
        return children(of: .object(members)).isEmpty ? .null : .object(members)
    }

    /// `node` with another priority; null removes it. A value that is not there has none.
    static func setting(priority: JSONValue, of node: JSONValue) -> JSONValue {
        let bare: JSONValue
        switch node {
        case .null: return .null
        case .object(var members):
            members[".priority"] = nil
            bare = members[".value"] ?? .object(members)
        default: bare = node
        }
        if priority.isNull { return bare }
        if case .object(var members) = bare {
            members[".priority"] = priority
            return .object(members)
        }
        return [".value": bare, ".priority": priority]
    }

    /// A value of a client in the form in which it is held: server values filled in, arrays as objects, nulls and empty objects gone.
    static func held(_ value: JSONValue, existing: JSONValue, now: Int64, depth: Int = 0) throws(MemoryRefusal) -> JSONValue {
        guard depth <= depthMax else { throw .invalid("A value may be at most \(depthMax) levels deep.") }
        switch value {
        case .null, .bool, .int, .uint, .string: return value
        case .double(let number): return Int64(exactly: number).map { number == 0 && number.sign == .minus ? value : .int($0) } ?? value
        case .array(let elements):
            let members = elements.enumerated().map { ("\($0.offset)", $0.element) }
            return try held(.object(JSONObject(members)), existing: existing, now: now, depth: depth)
        case .object(let members):
            if let instruction = members[".sv"] { return try serverValue(instruction, existing: existing, now: now) }
            var held = JSONObject()
            for (key, child) in members where key != ".priority" && key != ".value" {
                try check(key)
                let child = try self.held(child, existing: node(existing, at: [key]), now: now, depth: depth + 1)
                if !child.isNull { held[key] = child }
            }
            var node: JSONValue = held.isEmpty ? .null : .object(held)
            if let inner = members[".value"] {
                guard held.isEmpty else { throw .invalid("An object with .value has no other children.") }
                node = try self.held(inner, existing: existing, now: now, depth: depth)
            }
            return setting(priority: try priority(members[".priority"] ?? .null, now: now), of: node)
        }
    }

    /// A priority as it is held.
    static func priority(_ value: JSONValue, now: Int64) throws(MemoryRefusal) -> JSONValue {
        switch value {
        case .null, .int, .uint, .double, .string: return value
        case .object(let members) where members[".sv"] == "timestamp": return .int(now)
        default: throw .invalid("A priority is a number, a string or null.")
        }
    }

    private static func serverValue(_ instruction: JSONValue, existing: JSONValue, now: Int64) throws(MemoryRefusal) -> JSONValue {
        if instruction == "timestamp" { return .int(now) }
        guard let delta = instruction["increment"], delta.double != nil else {
            throw .invalid("A server value is \"timestamp\" or {\"increment\": a number}.")
        }
        let before = stripped(existing)
        guard let number = before.double else { return delta }
        if case .int(let left) = before, case .int(let right) = delta, case let (sum, isTooLarge) = left.addingReportingOverflow(right), !isTooLarge {
            return .int(sum)
        }
        let sum = number + (delta.double ?? 0)
        return Int64(exactly: sum).map { .int($0) } ?? .double(sum)
    }
}
