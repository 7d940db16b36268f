import AdminProtocol
import ArgumentParser
import CommandClient
import HearthJSON

/// The admin API for dead letters.
struct EventsClient {
    let client: HostClient
    let source: EventSource

    /// At most `limit`, oldest first.
    func page(limit: Int, after: String? = nil, function: String? = nil) throws(ClientFailure) -> DeadLetterList {
        var query = "?limit=\(limit)"
        if let after { query += "&after=\(PercentCoding.encoded(after))" }
        if let function { query += "&function=\(PercentCoding.encoded(function))" }
        return try client.administer(DeadLetterList.self, "GET", place + query)
    }

    /// One dead letter with all details.
    func letter(_ id: String) throws(ClientFailure) -> JSONValue {
        try client.administer("GET", "\(place)/\(PercentCoding.encoded(id))")
    }

    /// Replays or deletes some or all.
    ///
    /// - Returns: their number.
    func act(_ verb: String, _ selection: EventSelection) throws(ClientFailure) -> Int {
        let request = DeadLetterSelection(ids: selection.all ? nil : selection.ids, function: selection.all ? selection.function : nil)
        return try client.administer(CountAnswer.self, "POST", "\(place):\(verb)", request.json).count
    }

    private var place: String {
        if source.schedules { return "schedules/dead-letters" }
        if source.tasks { return "tasks/dead-letters" }
        return source.users ? "users/dead-letters" : "databases/\(PercentCoding.encoded(source.database.name))/dead-letters"
    }
}

/// The store whose dead letters a command is about.
struct EventSource: ParsableArguments {
    @Flag(help: "Events of users, not of a database.")
    var users = false

    @Flag(help: "Runs of schedules.")
    var schedules = false

    @Flag(help: "Tasks of queues.")
    var tasks = false

    @OptionGroup var database: DatabaseOptions

    func validate() throws {
        if users, database.instance != nil { throw ValidationError("--users and --instance exclude each other") }
        if schedules, users || database.instance != nil { throw ValidationError("--schedules excludes --users and --instance") }
        if tasks, users || schedules || database.instance != nil { throw ValidationError("--tasks excludes --users, --schedules and --instance") }
    }
}

/// The selection of dead letters.
struct EventSelection: ParsableArguments {
    @Argument(help: ArgumentHelp("The ID that events:list shows.", valueName: "id"))
    var ids: [String] = []

    @Flag(help: "All of them.")
    var all = false

    @Option(help: ArgumentHelp("With --all: only those of one function.", valueName: "name"))
    var function: String?

    func validate() throws {
        if all != ids.isEmpty { throw ValidationError("give the ids of events, or --all") }
        if function != nil, !all { throw ValidationError("--function needs --all") }
    }
}

/// `hearth events:list`: lists the events whose functions have failed for good.
struct EventsList: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "events:list", abstract: "Lists dead letters, which are events whose function has failed for good, oldest first.",
        discussion: """
            Examples:
              hearth events:list
              hearth events:list --function makeUppercase --limit 20
              hearth events:list --users
            """)

    @Option(help: ArgumentHelp("Only those of one function.", valueName: "name"))
    var function: String?

    @Option(help: ArgumentHelp("At most this many.", valueName: "count"))
    var limit = 100

    @OptionGroup var source: EventSource
    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
        if limit < 1 { throw ValidationError("--limit must be at least 1") }
    }

    func perform(_ client: HostClient) throws(ClientFailure) -> Outcome {
        let events = EventsClient(client: client, source: source)
        var letters: [DeadLetterEntry] = []
        var dropped = 0
        var next: String?
        repeat {
            let page = try events.page(limit: min(limit - letters.count, DeadLetterSelection.countMax), after: next, function: function)
            letters += page.deadLetters
            dropped = page.dropped ?? 0
            next = page.next
        } while next != nil && letters.count < limit
        return Outcome(
            text: table(letters, hasMore: next != nil, dropped: dropped),
            json: ["deadLetters": .array(letters.map(\.json)), "hasMore": .bool(next != nil), "dropped": .int(Int64(dropped))])
    }

    private func table(_ letters: [DeadLetterEntry], hasMore: Bool, dropped: Int) -> String {
        guard !letters.isEmpty else { return "No dead letters." }
        let rows = [["ID", "GIVEN UP", "FUNCTION", "PATH", "ATTEMPTS", "REASON"]] + letters.map { letter in
            [
                letter.id, letter.givenUpAt, letter.function, letter.path, "\(letter.attempts)", letter.error ?? letter.reason,
            ]
        }
        var lines = TextTable.lines(rows)
        if dropped > 0 { lines.append("\(dropped) older \(dropped == 1 ? "one" : "ones") dropped, by the limit database.triggers.deadLetters.") }
        if hasMore { lines.append("There are more: use --limit \(limit * 10).") }
        return lines.joined(separator: "\n")
    }
}

/// `hearth events:show`: shows one in full.
struct EventsShow: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "events:show", abstract: "Shows a dead letter: the change, its author, and the function's error.",
        discussion: """
            Example:
              hearth events:show 17
            """)

    @Argument(help: "The ID that events:list shows.")
    var id: String

    @OptionGroup var source: EventSource
    @OptionGroup var connection: ConnectionOptions

    func perform(_ client: HostClient) throws(ClientFailure) -> Outcome {
        let letter = try EventsClient(client: client, source: source).letter(id)
        guard let object = letter.object else { return Outcome(json: letter) }
        let width = object.keys.map(\.count).max() ?? 0
        let lines = object.map { name, value in
            name + String(repeating: " ", count: width - name.count) + "  " + (value.string ?? value.description)
        }
        return Outcome(text: lines.joined(separator: "\n"), json: letter)
    }
}

/// `hearth events:replay`: delivers them again.
struct EventsReplay: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "events:replay", abstract: "Delivers dead letters to their functions again.",
        discussion: """
            An event keeps its id, so that a function can tell that it has seen it.

            Examples:
              hearth events:replay 17
              hearth events:replay --all --function makeUppercase
            """)

    @OptionGroup var selection: EventSelection
    @OptionGroup var source: EventSource
    @OptionGroup var connection: ConnectionOptions

    func perform(_ client: HostClient) throws(ClientFailure) -> Outcome {
        let count = try EventsClient(client: client, source: source).act("replay", selection)
        return Outcome(text: "\(count) \(count == 1 ? "event" : "events") will be delivered again", json: .object(["count": .int(Int64(count))]))
    }
}

/// `hearth events:delete`: deletes them.
struct EventsDelete: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "events:delete", abstract: "Deletes dead letters.",
        discussion: """
            Examples:
              hearth events:delete 17 18
              hearth events:delete --all --force
            """)

    @OptionGroup var selection: EventSelection
    @OptionGroup var force: ForceOption
    @OptionGroup var source: EventSource
    @OptionGroup var connection: ConnectionOptions

    func perform(_ client: HostClient) throws(ClientFailure) -> Outcome {
        if selection.all { try force.confirm("delete all dead letters\(selection.function.map { " of \($0)" } ?? "") of \(client.url)") }
        let count = try EventsClient(client: client, source: source).act("delete", selection)
        return Outcome(text: "\(count) \(count == 1 ? "event" : "events") deleted", json: .object(["count": .int(Int64(count))]))
    }
}
