internal import HearthFunctions
internal import HearthJSON

/// A messaging service in memory, with the methods of the host's service `messaging`.
///
/// It checks targets, not the other fields of a message.
struct MemoryMessaging {
    private struct Device {
        var fid: String
        var topics: [String: String] = [:]
        var inbox: [JSONValue] = []
    }

    private let project: String
    private var devices: [String: Device] = [:]
    private var lastID = 0
    /// Every message that was accepted, as the HTTP v1 API has it.
    private(set) var sent: [JSONValue] = []

    init(project: String) { self.project = project }

    /// Registers a device.
    ///
    /// - Returns: its registration token.
    mutating func register() -> String {
        lastID += 1
        let fid = "cTestDevice\(lastID)"
        let token = "\(fid):test"
        devices[token] = Device(fid: fid)
        return token
    }

    mutating func unregister(_ token: String) { devices[token] = nil }

    /// The messages that a device has received.
    func messages(for token: String) -> [JSONValue] { devices[token]?.inbox ?? [] }

    /// Answers a call of the service.
    mutating func call(_ method: String, _ payload: [UInt8]) -> ServiceOutcome {
        let value = (try? JSONValue(parsing: payload)) ?? .null
        let registrations = (value["registrations"]?.array ?? []).compactMap(\.string)
        let topic = value["topic"]?.string ?? ""
        switch method {
        case "send":
            let isDryRun = value["validateOnly"] == true
            let results = (value["messages"]?.array ?? []).map { send($0, isDryRun: isDryRun) }
            return .value(["results": .array(results)])
        case "subscribe": return .value(["results": .array(registrations.map { change($0) { $0.topics[topic] = "2026-01-31T12:00:00.000Z" } })])
        case "unsubscribe": return .value(["results": .array(registrations.map { change($0) { $0.topics[topic] = nil } })])
        case "topics":
            let token = token(of: value["registration"]?.string ?? "")
            let topics = (token.flatMap { devices[$0]?.topics } ?? [:]).sorted { $0.key < $1.key }
            return .value(["topics": .array(topics.map { ["topic": .string($0.key), "created": .string($0.value)] })])
        default:
            let error: JSONValue = ["code": "unimplemented", "message": .string("messaging has no method \"\(method)\"")]
            return ServiceOutcome(isOK: false, body: error.serialized())
        }
    }

    /// The token of a registration, which is a token or an installation id.
    private func token(of registration: String) -> String? {
        devices[registration] != nil ? registration : devices.first { $0.value.fid == registration }?.key
    }

    private mutating func change(_ registration: String, _ change: (inout Device) -> Void) -> JSONValue {
        guard let token = token(of: registration), var device = devices[token] else { return ["error": "NOT_FOUND"] }
        change(&device)
        devices[token] = device
        return [:]
    }

    private mutating func send(_ message: JSONValue, isDryRun: Bool) -> JSONValue {
        let targets = ["token", "fid", "topic", "condition"].filter { message[$0] != nil }
        guard targets.count == 1, let kind = targets.first, let target = message[kind]?.string, !target.isEmpty else {
            return Self.refusal("invalid-argument", "invalid-argument", "A message has exactly one of token, fid, topic and condition.")
        }
        var receivers: [String] = []
        switch kind {
        case "token", "fid":
            guard let token = token(of: target) else { return Self.refusal("not-found", "unregistered", "Requested entity was not found.") }
            receivers = [token]
        case "topic": receivers = devices.filter { $0.value.topics[target] != nil }.map(\.key)
        default:
            receivers = devices.filter { device in
                var condition = TestedCondition(target)
                return !device.value.topics.isEmpty && condition.holds(for: Set(device.value.topics.keys))
            }.map(\.key)
        }
        lastID += 1
        let name: JSONValue = ["name": .string("projects/\(project)/messages/\(lastID)")]
        if isDryRun { return name }
        sent.append(message)
        var received = JSONObject(message.object?.filter { !targets.contains($0.key) }.map { ($0.key, $0.value) } ?? [])
        received["message_id"] = .string("\(lastID)")
        for token in receivers { devices[token]?.inbox.append(.object(received)) }
        return name
    }

    private static func refusal(_ code: String, _ reason: String, _ message: String) -> JSONValue {
        ["error": ["code": .string(code), "message": .string(message), "details": ["reason": .string(reason)]]]
    }
}

/// An expression such as `'a' in topics && !('b' in topics)`. `&&` and `||` bind equally, from the left.
private struct TestedCondition {
    private var rest: Substring

    init(_ text: String) { rest = text[...] }

    mutating func holds(for topics: Set<String>) -> Bool {
        var isTrue = term(topics)
        while true {
            // Both sides are read, whatever the first one is.
            if take("&&") {
                let right = term(topics)
                isTrue = isTrue && right
            } else if take("||") {
                let right = term(topics)
                isTrue = isTrue || right
            } else {
                return isTrue
            }
        }
    }

    private mutating func term(_ topics: Set<String>) -> Bool {
        if take("!") { return !term(topics) }
        if take("(") {
            let inner = holds(for: topics)
            _ = take(")")
            return inner
        }
        guard take("'"), let end = rest.firstIndex(of: "'") else { return false }
        let topic = String(rest[..<end])
        rest = rest[rest.index(after: end)...]
        return take("in") && take("topics") && topics.contains(topic)
    }

    private mutating func take(_ word: String) -> Bool {
        rest = rest.drop { $0 == " " }
        guard rest.hasPrefix(word) else { return false }
        rest = rest.dropFirst(word.count)
        return true
    }
}
