import ArgumentParser
import CommandClient
import HearthJSON

/// `hearth messaging:send`: sends a push message.
struct MessagingSend: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "messaging:send", abstract: "Sends a push message to a device or to the subscribers of topics, and prints its name.",
        discussion: """
            The host has stored the message when its name is printed; devices get it when they connect. --message is a whole message as \
            the HTTP v1 API takes it, to which the other options add: a file, - for standard input, or the JSON itself.

            Examples:
              hearth messaging:send --topic news --title Goal --body '1:0'
              hearth messaging:send --device "$TOKEN" --data score=3 --data game=17
              hearth messaging:send --condition "'news' in topics && !('sport' in topics)" --message message.json
              hearth messaging:send --topic news --message '{android: {ttl: "60s", priority: "high"}, data: {k: "v"}}' --dry-run
            """)

    @OptionGroup var receiver: ReceiverOptions
    @OptionGroup var content: MessageOptions

    @Flag(help: "Validate the message and its receiver, and send nothing.")
    var dryRun = false

    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
        guard receiver.isGiven || content.message != nil else {
            let hint = connection.token == nil ? "" : "; --token is the administrator's, a device's goes with --device"
            throw ValidationError("name the receiver, with --device, --fid, --topic or --condition\(hint)")
        }
    }

    func perform(_ client: HostClient) throws(ClientFailure) -> Outcome {
        var request = try content.request()
        var message = request["message"]?.object ?? JSONObject()
        try receiver.add(to: &message)
        request["message"] = .object(message)
        if dryRun { request["validate_only"] = true }
        let isDry = request["validate_only"]?.bool ?? request["validateOnly"]?.bool ?? false
        let name = try MessagingClient(client).send(request)
        return Outcome(
            text: isDry ? "The message is valid; nothing was sent" : name,
            json: isDry ? ["dryRun": true] : ["name": .string(name)])
    }
}

/// The receivers of a message.
struct ReceiverOptions: ParsableArguments {
    @Option(parsing: .unconditional, help: ArgumentHelp("The device with this registration token.", valueName: "token"))
    var device: String?

    @Option(help: ArgumentHelp("The device with this installation id.", valueName: "fid"))
    var fid: String?

    @Option(help: ArgumentHelp("The devices that subscribed to this topic.", valueName: "topic"))
    var topic: String?

    @Option(help: ArgumentHelp("The devices whose topics match: \"'a' in topics && 'b' in topics\".", valueName: "condition"))
    var condition: String?

    private var given: [(option: String, field: String, value: String)] {
        [("--device", "token", device), ("--fid", "fid", fid), ("--topic", "topic", topic), ("--condition", "condition", condition)]
            .compactMap { option, field, value in value.map { (option, field, $0) } }
    }

    /// Whether a receiver was given.
    var isGiven: Bool { !given.isEmpty }

    func validate() throws {
        guard given.count > 1 else { return }
        throw ValidationError("\(given.map(\.option).joined(separator: " and ")) exclude each other; send twice, or use --condition")
    }

    /// Adds the receiver to a message that names none.
    func add(to message: inout JSONObject) throws(ClientFailure) {
        let named = ["token", "fid", "topic", "condition"].first { message[$0] != nil }
        guard let (option, field, value) = given.first else {
            guard named == nil else { return }
            throw ClientFailure(
                .invalidInput, "the message names no receiver; add one to it, or use --device, --fid, --topic or --condition")
        }
        if let named { throw ClientFailure(.invalidInput, "the message already has a \(named); remove it, or leave out \(option)") }
        message[field] = .string(value)
    }
}

/// The content of a message.
struct MessageOptions: ParsableArguments {
    @Option(parsing: .unconditional, help: ArgumentHelp("The title of the notification.", valueName: "text"))
    var title: String?

    @Option(parsing: .unconditional, help: ArgumentHelp("Its text.", valueName: "text"))
    var body: String?

    @Option(help: ArgumentHelp("The URL of its image, http or https.", valueName: "url"))
    var image: String?

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp("A data entry for the application; may be repeated.", valueName: "key=value"))
    var data: [String] = []

    @Option(parsing: .unconditional, help: ArgumentHelp("A whole message: a file, - for standard input, or JSON.", valueName: "message"))
    var message: String?

    func validate() throws {
        var keys: Set<Substring> = []
        for entry in data {
            guard let equals = entry.firstIndex(of: "="), equals > entry.startIndex else {
                throw ValidationError("--data must be KEY=VALUE, as in --data score=3")
            }
            guard keys.insert(entry[..<equals]).inserted else { throw ValidationError("--data has the key \(entry[..<equals]) twice") }
        }
    }

    /// The body of a request, possibly without a receiver.
    func request() throws(ClientFailure) -> JSONObject {
        var request = try given()
        guard var message = request["message"]?.object else {
            throw ClientFailure(.invalidInput, "a message must be an object, as in '{\"topic\": \"news\"}'")
        }
        for (name, text) in [("title", title), ("body", body), ("image", image)] {
            if let text { try Self.set(name, to: text, in: "notification", of: &message) }
        }
        for entry in data {
            let parts = entry.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            try Self.set(String(parts[0]), to: String(parts[1]), in: "data", of: &message)
        }
        request["message"] = .object(message)
        return request
    }

    /// The value of `--message`: a message, or the body of a request with one.
    private func given() throws(ClientFailure) -> JSONObject {
        guard let text = message else { return ["message": [:]] }
        let isInline = text.first { !$0.isWhitespace } == "{"
        let value: JSONValue
        if isInline {
            value = try CallData.parsed(text, "what --message says")
        } else {
            let (content, name) = try CallData.content(text == "-" || text.hasPrefix("@") ? text : "@\(text)")
            value = try CallData.parsed(content, name)
        }
        if let request = value.object, request["message"] != nil { return request }
        return ["message": value]
    }

    private static func set(_ name: String, to text: String, in part: String, of message: inout JSONObject) throws(ClientFailure) {
        guard var members = (message[part] ?? [:]).object else {
            throw ClientFailure(.invalidInput, "message.\(part) is not an object, so that nothing can be added to it")
        }
        members[name] = .string(text)
        message[part] = .object(members)
    }
}
