import ArgumentParser
import CommandClient
import HearthJSON

/// `hearth messaging:devices`: lists registered devices.
struct MessagingDevices: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "messaging:devices", abstract: "Lists the devices that are registered at a host, oldest first.",
        discussion: """
            --json includes the registration tokens.

            Examples:
              hearth messaging:devices
              hearth messaging:devices --limit 1000 --json
            """)

    @OptionGroup var length: ListLength
    @OptionGroup var connection: ConnectionOptions

    func perform(_ client: HostClient) throws(ClientFailure) -> Outcome {
        let page = try MessagingClient(client).devices(limit: length.limit)
        let rows = page.items.map { device in
            let text = { (name: String) in PrintableText.line(device[name]?.string ?? "") }
            let seen = device["connected"]?.bool == true ? "connected" : text("lastSeenTime")
            return [text("fid"), text("platform"), text("package"), seen, text("name")]
        }
        return length.outcome(
            rows, heading: ["FID", "PLATFORM", "APPLICATION", "LAST SEEN", "NAME"], none: "No devices.",
            json: ["devices": .array(page.items), "hasMore": .bool(page.hasMore)])
    }
}

/// `hearth messaging:topics`: lists topics with subscribers.
struct MessagingTopics: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "messaging:topics", abstract: "Lists the topics of a host with the number of their subscribers.",
        discussion: """
            Examples:
              hearth messaging:topics
              hearth messaging:topics --json
            """)

    @OptionGroup var length: ListLength
    @OptionGroup var connection: ConnectionOptions

    func perform(_ client: HostClient) throws(ClientFailure) -> Outcome {
        let page = try MessagingClient(client).topics(limit: length.limit)
        let rows = page.items.map { topic in [topic["name"]?.string ?? "", topic["subscriber_count"]?.int.map { "\($0)" } ?? ""] }
        return length.outcome(
            rows, heading: ["TOPIC", "SUBSCRIBERS"], none: "No topics.", json: ["topics": .array(page.items), "hasMore": .bool(page.hasMore)])
    }
}

/// The length of a list.
struct ListLength: ParsableArguments {
    @Option(help: ArgumentHelp("At most this many.", valueName: "count"))
    var limit = 100

    func validate() throws {
        if limit < 1 { throw ValidationError("--limit must be at least 1") }
    }

    func outcome(_ rows: [[String]], heading: [String], none: String, json: JSONObject) -> Outcome {
        guard !rows.isEmpty else { return Outcome(text: none, json: .object(json)) }
        var lines = TextTable.lines([heading] + rows)
        if json["hasMore"]?.bool == true { lines.append("There are more: use --limit \(limit * 10).") }
        return Outcome(text: lines.joined(separator: "\n"), json: .object(json))
    }
}
