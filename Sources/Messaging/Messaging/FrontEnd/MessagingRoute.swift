import HearthBytes
import Tree

/// The parsed path of a request to the messaging service.
enum MessagingRoute: Equatable {
    /// `/v1/projects/P/messages:send`.
    case send(project: String)
    /// `/v1/projects/P/registrations/R/topicSubscriptions`, and a subscription below it.
    case subscriptions(project: String, registration: String)
    case subscription(project: String, registration: String, topic: String)
    /// `...:subscribe` and `...:unsubscribe`, used by client SDKs.
    case clientSubscription(project: String, registration: String, topic: String, isOn: Bool)
    /// `/v1/projects/P/registrations`, and a registration below it.
    case registrations(project: String)
    case registration(project: String, name: String)
    /// `/v1/projects/P/installations`, an installation below it, and a new token for one.
    case installations(project: String)
    case installation(project: String, fid: String)
    case installationToken(project: String, fid: String)
    /// `/iid/v1:batchAdd` and `/iid/v1:batchRemove`.
    case topicBatch(TopicChange.Action)
    case importTokens
    /// `/iid/v1/TOKEN/rel/topics/NAME`.
    case topicOfToken(token: String, topic: String)
    /// `/iid/info/TOKEN`.
    case tokenInfo(String)
    /// `/token`.
    case grant
    /// Paths below `/_messaging/v1/`.
    case connect
    case device(token: String, part: String)
    case native(project: String, rest: [String])
    case control(String)
    /// An invalid path of the messaging service, or one of a discontinued API.
    case unknown

    /// Whether a path belongs to the messaging service.
    static func claims(_ path: Span<UInt8>) -> Bool { projectOfSend(path) != nil || MessagingRoute(path) != nil }

    /// Whether a path is that of a send. Does not parse the whole path.
    static func isSend(_ path: Span<UInt8>) -> Bool { projectOfSend(path) != nil }

    /// Whether only senders and administrators may make this request. Their bodies may be long.
    var isForSenders: Bool {
        switch self {
        case .send, .subscriptions, .subscription, .topicBatch, .importTokens, .topicOfToken, .tokenInfo, .control: true
        case .clientSubscription, .registrations, .registration, .installations, .installation, .installationToken, .grant, .connect, .device,
            .native, .unknown:
            false
        }
    }

    /// Parses a path; nil if it does not belong to the messaging service.
    init?(_ path: Span<UInt8>) {
        if let project = Self.projectOfSend(path) {
            self = .send(project: path.extracting(project).string())
            return
        }
        guard Self.looksLikeOne(path) else { return nil }
        var parts: [String] = []
        var start = 1
        var index = 1
        while index <= path.count {
            if index == path.count || path[index] == UInt8(ascii: "/") {
                guard let decoded = PercentEncoding.decoded(path.extracting(start..<index)) else {
                    self = .unknown
                    return
                }
                parts.append(String(decoding: decoded, as: UTF8.self))
                start = index + 1
            }
            index += 1
        }
        switch (parts.first, parts.count) {
        case ("v1", 4...):
            guard let route = Self.project(parts[2], Array(parts[3...])) else { return nil }
            self = route
        case ("iid", _): self = Self.instance(Array(parts.dropFirst()))
        case ("_messaging", 3...) where parts[1] == "v1": self = Self.own(Array(parts.dropFirst(2)))
        case ("token", 1): self = .grant
        default: self = .unknown
        }
    }

    /// The range of the project in the path of a send. Nil for other paths, and for those that have to be parsed completely.
    private static func projectOfSend(_ path: Span<UInt8>) -> Range<Int>? {
        let (start, end): (StaticString, StaticString) = ("/v1/projects/", "/messages:send")
        let project = start.utf8CodeUnitCount..<max(start.utf8CodeUnitCount, path.count - end.utf8CodeUnitCount)
        guard !project.isEmpty, begins(path, start), path.extracting(project.upperBound..<path.count).equals(end) else { return nil }
        for index in project where path[index] == UInt8(ascii: "/") || path[index] == UInt8(ascii: "%") { return nil }
        return project
    }

    /// Whether the path may belong to the service, judging by its first bytes. Fast, because most requests are for other services.
    private static func looksLikeOne(_ path: Span<UInt8>) -> Bool {
        guard path.count >= 6, path[0] == UInt8(ascii: "/") else { return false }
        return switch path[1] {
        case UInt8(ascii: "v"): begins(path, "/v1/projects/")
        case UInt8(ascii: "i"): begins(path, "/iid/")
        case UInt8(ascii: "_"): begins(path, "/_messaging/")
        case UInt8(ascii: "t"): path.equals("/token")
        case UInt8(ascii: "f"): path.equals("/fcm/send") || path.equals("/fcm/notification")
        case UInt8(ascii: "b"): path.equals("/batch")
        default: false
        }
    }

    private static func begins(_ text: Span<UInt8>, _ start: StaticString) -> Bool {
        text.count >= start.utf8CodeUnitCount && text.extracting(0..<start.utf8CodeUnitCount).equals(start)
    }

    /// Parses a path below `/v1/projects/P/`; nil if it may belong to another service.
    private static func project(_ project: String, _ parts: [String]) -> MessagingRoute? {
        switch (parts[0], parts.count) {
        case ("messages:send", 1): return .send(project: project)
        case ("registrations", 1): return .registrations(project: project)
        case ("registrations", 2): return .registration(project: project, name: parts[1])
        case ("registrations", 3) where parts[2] == "topicSubscriptions":
            return .subscriptions(project: project, registration: parts[1])
        case ("registrations", 4) where parts[2] == "topicSubscriptions":
            for (verb, isOn) in [(":subscribe", true), (":unsubscribe", false)] where parts[3].hasSuffix(verb) {
                let topic = String(parts[3].dropLast(verb.count))
                return .clientSubscription(project: project, registration: parts[1], topic: topic, isOn: isOn)
            }
            return .subscription(project: project, registration: parts[1], topic: parts[3])
        case ("installations", 1): return .installations(project: project)
        case ("installations", 2): return .installation(project: project, fid: parts[1])
        case ("installations", 3) where parts[2] == "authTokens:generate": return .installationToken(project: project, fid: parts[1])
        case ("registrations", _), ("installations", _): return .unknown
        default: return parts[0].hasPrefix("messages:") ? .unknown : nil
        }
    }

    private static func instance(_ parts: [String]) -> MessagingRoute {
        switch (parts.first, parts.count) {
        case ("v1:batchAdd", 1): .topicBatch(.subscribe)
        case ("v1:batchRemove", 1): .topicBatch(.unsubscribe)
        case ("v1:batchImport", 1): .importTokens
        case ("v1", 5) where parts[2] == "rel" && parts[3] == "topics": .topicOfToken(token: parts[1], topic: parts[4])
        case ("info", 2): .tokenInfo(parts[1])
        default: .unknown
        }
    }

    private static func own(_ parts: [String]) -> MessagingRoute {
        switch (parts.first, parts.count) {
        case ("connect", 1): .connect
        case ("devices", 3): .device(token: parts[1], part: parts[2])
        case ("projects", 3...): .native(project: parts[1], rest: Array(parts[2...]))
        case ("control", 2): .control(parts[1])
        default: .unknown
        }
    }
}
