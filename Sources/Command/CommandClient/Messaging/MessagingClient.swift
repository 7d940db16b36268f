import HearthJSON

/// Asks the messaging service of a host, as its administrator.
public final class MessagingClient {
    private let client: HostClient
    private var knownProject: String?

    /// Asks with this client.
    public init(_ client: HostClient) { self.client = client }

    /// A list of devices or topics.
    public struct Page: Sendable {
        /// As the host tells them.
        public let items: [JSONValue]
        /// Whether the host has more than were asked for.
        public let hasMore: Bool
    }

    /// Sends a message, or only has it checked.
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

    /// At most `limit` devices that are registered at the host, in the order in which they came.
    public func devices(limit: Int) throws(ClientFailure) -> Page { try list("devices", limit) }

    /// At most `limit` topics with the number of their subscribers, by their names.
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
        let project = try FunctionsClient(client).project()
        knownProject = project
        return project
    }

    private var notHearth: ClientFailure { ClientFailure(.notHTTP, "what answers at \(client.url) is not a host of Hearth; check --url") }
}
