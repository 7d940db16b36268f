import AdminProtocol
import HearthJSON

/// Accesses the messaging service of a host, as its administrator.
public final class MessagingClient {
    private let client: HostClient
    private var knownProject: String?

    /// Sends requests through `client`.
    public init(_ client: HostClient) { self.client = client }

    /// A list of devices or topics.
    public struct Page: Sendable {
        /// The entries in the host's format.
        public let items: [JSONValue]
        /// Whether the host has more entries than requested.
        public let hasMore: Bool
    }

    /// Sends a message, or only validates it.
    ///
    /// - Parameter request: the body of the HTTP v1 API: `{"message": {...}, "validate_only": false}`.
    /// - Returns: the message's name.
    public func send(_ request: JSONObject) throws(ClientFailure) -> String {
        let project = try project()
        let answer = try client.send(
            HostRequest(
                "POST", "/v1/projects/\(PercentCoding.encoded(project))/messages:send", headers: [("Content-Type", "application/json")],
                body: .bytes(JSONValue.object(request).serialized())))
        guard answer.status < 400 else { throw MessagingRefusal(answer)?.failure(project: project) ?? client.refusal(answer) }
        guard let name = (try? JSONValue(parsing: answer.body))?["name"]?.string else { throw notHearth }
        return name
    }

    /// At most `limit` registered devices, in order of registration.
    public func devices(limit: Int) throws(ClientFailure) -> Page { try list("devices", limit) }

    /// At most `limit` topics with their numbers of subscribers, by name.
    public func topics(limit: Int) throws(ClientFailure) -> Page { try list("topics", limit) }

    private static let pageSizeMax = 1000

    private func list(_ what: String, _ limit: Int) throws(ClientFailure) -> Page {
        var items: [JSONValue] = []
        var next: String?
        repeat {
            var target = "/_messaging/v1/projects/\(PercentCoding.encoded(try project()))/\(what)"
            target += "?page_size=\(min(limit - items.count, Self.pageSizeMax))"
            if let next { target += "&page_token=\(PercentCoding.encoded(next))" }
            let answer = try client.ask(HostRequest("GET", target))
            guard let page = try? JSONValue(parsing: answer.body), let found = page[what]?.array else { throw notHearth }
            items += found
            next = page["next_page_token"]?.string
        } while next != nil && items.count < limit
        return Page(items: items, hasMore: next != nil)
    }

    private func project() throws(ClientFailure) -> String {
        if let knownProject { return knownProject }
        let project = try client.hostDescription().project
        knownProject = project
        return project
    }

    private var notHearth: ClientFailure { ClientFailure(.notHTTP, "the server at \(client.url) is not a Hearth host; check --url") }
}

/// A refusal of the messaging service, with the remedy.
struct MessagingRefusal {
    /// A field that violates a rule.
    struct Violation {
        let field: String
        let description: String
    }

    private let status: Int
    /// `UNREGISTERED`, `INVALID_ARGUMENT`, ...
    let code: String
    let message: String
    let violations: [Violation]
    let retryAfterSeconds: Int?

    /// - Returns: nil if the answer has another form, or concerns the caller rather than the message.
    init?(_ answer: HostAnswer) {
        guard let error = (try? JSONValue(parsing: answer.body))?["error"], let status = error["status"]?.string else { return nil }
        let details = error["details"]?.array ?? []
        let named = details.lazy.compactMap { $0["errorCode"]?.string }.first
        if named == nil, status == "UNAUTHENTICATED" || status == "PERMISSION_DENIED" { return nil }
        self.status = answer.status
        code = named ?? status
        message = error["message"]?.string ?? ""
        violations = details.flatMap { $0["fieldViolations"]?.array ?? [] }.map {
            Violation(field: $0["field"]?.string ?? "", description: $0["description"]?.string ?? "")
        }
        retryAfterSeconds = answer.head.header("retry-after").flatMap { Int($0) }
    }

    func failure(project: String) -> ClientFailure {
        var details: JSONObject = ["code": .string(code), "message": .string(message)]
        if !violations.isEmpty {
            details["fields"] = .array(violations.map { ["field": .string($0.field), "description": .string($0.description)] })
        }
        if let retryAfterSeconds { details["retryAfterSeconds"] = .int(Int64(retryAfterSeconds)) }
        return ClientFailure(.refused(status: status), sentence(project), details: .object(details))
    }

    private func sentence(_ project: String) -> String {
        switch code {
        case "UNREGISTERED": "the receiver is not registered: delete its token, and use the device's current one"
        case "SENDER_ID_MISMATCH": "the receiver is registered with another project than \(project): send through the host of that one"
        case "THIRD_PARTY_AUTH_ERROR":
            "the push service of the device refuses this host's credentials: check messaging.apns and messaging.webPush in functions.json"
        case "QUOTA_EXCEEDED": "there are too many messages (\(Self.clause(message))); try again \(moment)"
        case "UNAVAILABLE": "the messaging service cannot take messages now (\(Self.clause(message))); try again \(moment), or see the host's log"
        case "INTERNAL": "the messaging service failed (\(Self.clause(message))); see the host's log"
        default: "the message is refused: \(reasons)"
        }
    }

    /// Every field with its violation, or the service's message if it names no field.
    private var reasons: String {
        let named = violations.filter { !$0.field.isEmpty }.map { violation in
            message.contains("'\(violation.field)'") ? Self.clause(message) : "\(violation.field): \(Self.clause(violation.description))"
        }
        return named.isEmpty ? Self.clause(message) : named.joined(separator: "; ")
    }

    private var moment: String { retryAfterSeconds.map { "in \($0) \($0 == 1 ? "second" : "seconds")" } ?? "later" }

    private static func clause(_ text: String) -> String {
        let line = text.split(whereSeparator: \.isNewline).joined(separator: " ")
        return line.hasSuffix(".") ? String(line.dropLast()) : line
    }
}
