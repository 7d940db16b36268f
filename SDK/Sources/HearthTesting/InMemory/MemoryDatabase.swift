import Glibc
internal import HearthFunctions
internal import HearthJSON

/// A Realtime Database in memory, with the methods of the host's service `database`.
///
/// It follows the host in everything that functions can see, with three exceptions: no rules apply; a query needs no
/// index; and sizes are not limited.
struct MemoryDatabase {
    /// A change that was committed.
    struct Commit {
        var instance: String
        var before: JSONValue
        var after: JSONValue
        /// The places that were written.
        var places: [[String]]
        /// The `auth` of the writer; nil for an administrator, null for a client that has not signed in.
        var auth: JSONValue?
    }

    /// The name of the project's default database.
    let defaultInstance: String
    private var roots: [String: JSONValue] = [:]
    /// The ids of updates that are performed once, by database. They are kept until the test ends.
    private var onceKeys: [String: Set<String>] = [:]

    init(project: String) { defaultInstance = "\(project)-default-rtdb" }

    /// Answers a call of the service.
    ///
    /// - Returns: the answer, and the change where the call has written.
    mutating func call(_ method: String, _ payload: [UInt8]) -> (ServiceOutcome, Commit?) {
        let value = (try? JSONValue(parsing: payload)) ?? .null
        let path = value["path"]?.string ?? ""
        do throws(MemoryRefusal) {
            return try answer(method, value, MemoryTree.keys(path))
        } catch {
            return (error.answer(path: "/" + path.split(separator: "/").joined(separator: "/")), nil)
        }
    }

    private static let members: [String: Set<String>] = [
        "get": ["form", "etag", "query"], "set": ["value", "priority"], "setPriority": ["priority"], "update": ["value"],
        "once": ["value", "key"], "push": ["value", "priority"], "remove": [], "transaction": ["value", "priority", "etag"],
        "observe": ["form", "query", "mark", "id", "timeoutMilliseconds"], "unobserve": ["id"],
    ]

    /// The answer to a call of `observe`, and whether the caller does not have the value yet. An error counts as a change.
    func observed(_ payload: JSONValue) -> (outcome: ServiceOutcome, isChange: Bool) {
        let path = payload["path"]?.string ?? ""
        do throws(MemoryRefusal) {
            try Self.check("observe", payload)
            let current = MemoryTree.node(roots[payload["instance"]?.string ?? defaultInstance] ?? .null, at: try MemoryTree.keys(path))
            let value = try get(payload, current)["value"] ?? .null
            let mark = JSONValue.string(MemoryTree.etag(value))
            return (.value(["changed": true, "value": value, "mark": mark]), mark != payload["mark"])
        } catch {
            return (error.answer(path: "/" + path.split(separator: "/").joined(separator: "/")), true)
        }
    }

    private static func check(_ method: String, _ payload: JSONValue) throws(MemoryRefusal) {
        guard let known = members[method] else {
            throw MemoryRefusal(reason: "unknown-method", code: "unimplemented", message: "database has no method \"\(method)\"")
        }
        for name in payload.object?.keys.map({ $0 }) ?? [] where !known.contains(name) && !["path", "instance", "auth"].contains(name) {
            throw .invalid("\(method) has no member \"\(name)\"")
        }
    }

    private mutating func answer(_ method: String, _ payload: JSONValue, _ keys: [String]) throws(MemoryRefusal) -> (ServiceOutcome, Commit?) {
        try Self.check(method, payload)
        let instance = payload["instance"]?.string ?? defaultInstance
        let before = roots[instance] ?? .null
        let current = MemoryTree.node(before, at: keys)
        let value = payload["value"] ?? .null
        var answer = JSONValue.null
        var after = before
        var places = [keys]
        func replaced(by node: JSONValue, at keys: [String]) -> JSONValue { MemoryTree.replacing(before, at: keys[...], with: node) }
        switch method {
        case "get": return (.value(try get(payload, current)), nil)
        case "unobserve": return (.value(.null), nil)
        case "set": after = replaced(by: try written(value, payload["priority"], current), at: keys)
        case "setPriority":
            after = replaced(by: MemoryTree.setting(priority: try MemoryTree.priority(payload["priority"] ?? .null, now: now), of: current), at: keys)
        case "update":
            places = try Self.places(of: value).map { keys + $0 }
            after = try updated(before, places, value)
        case "once":
            guard let key = payload["key"]?.string, (1...512).contains(key.utf8.count) else {
                throw .invalid("key must be a string of 1 to 512 bytes")
            }
            places = try Self.places(of: value).map { keys + $0 }
            after = try updated(before, places, value)
            guard onceKeys[instance, default: []].insert(key).inserted else { return (.value(["first": false]), nil) }
            answer = ["first": true]
        case "push":
            let key = database.reference().childByAutoID().key ?? ""
            places = [keys + [key]]
            after = replaced(by: try written(value, payload["priority"], .null), at: keys + [key])
            answer = ["name": .string(key)]
        case "transaction":
            guard payload["etag"]?.string == MemoryTree.etag(current) else {
                return (.value(["committed": false, "value": plain(current), "etag": .string(MemoryTree.etag(current))]), nil)
            }
            let node = try written(value, payload["priority"], current)
            after = replaced(by: node, at: keys)
            answer = ["committed": true, "value": plain(node)]
        default: after = replaced(by: .null, at: keys)
        }
        roots[instance] = after
        return (.value(answer), Commit(instance: instance, before: before, after: after, places: places, auth: payload["auth"]))
    }

    private func get(_ payload: JSONValue, _ current: JSONValue) throws(MemoryRefusal) -> JSONValue {
        var node = MemoryTree.ordered(current)
        if let query = payload["query"] { node = try MemoryQuery(query).selected(from: current) }
        var answer: JSONObject = ["value": payload["form"] == "export" ? node : plain(node)]
        if payload["etag"] == true { answer["etag"] = .string(MemoryTree.etag(current)) }
        return .object(answer)
    }

    private func written(_ value: JSONValue, _ priority: JSONValue?, _ current: JSONValue) throws(MemoryRefusal) -> JSONValue {
        let node = try MemoryTree.held(value, existing: current, now: now)
        guard let priority else { return node }
        return MemoryTree.setting(priority: try MemoryTree.priority(priority, now: now), of: node)
    }

    /// The paths of an update, below its place.
    private static func places(of values: JSONValue) throws(MemoryRefusal) -> [[String]] {
        guard case .object(let members) = values else { throw .invalid("update takes an object") }
        var places: [[String]] = []
        for (path, _) in members { places.append(try MemoryTree.keys(path)) }
        for (index, place) in places.enumerated() {
            let others = places.enumerated().filter { $0.offset != index }.map(\.element)
            guard !place.isEmpty, !others.contains(where: { $0.starts(with: place) }) else {
                throw .invalid("The path \"\(place.joined(separator: "/"))\" of an update must not lead to another of its paths.")
            }
        }
        return places
    }

    private func updated(_ root: JSONValue, _ places: [[String]], _ values: JSONValue) throws(MemoryRefusal) -> JSONValue {
        var after = root
        for (place, value) in zip(places, values.object?.values.map { $0 } ?? []) {
            let node = try MemoryTree.held(value, existing: MemoryTree.node(root, at: place), now: now)
            after = MemoryTree.replacing(after, at: place[...], with: node)
        }
        return after
    }

    private func plain(_ node: JSONValue) -> JSONValue {
        // The plain form of a selection of nothing is an empty object, as in the host's answer.
        if case .object(let members) = node, members.isEmpty { return node }
        return PlainValue(exported: MemoryTree.ordered(node)).value
    }

    private var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}

extension ServiceOutcome {
    static func value(_ value: JSONValue) -> ServiceOutcome { ServiceOutcome(isOK: true, body: value.serialized()) }
}
