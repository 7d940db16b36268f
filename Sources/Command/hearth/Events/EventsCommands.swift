import ArgumentParser
import CommandClient
import HearthJSON

/// The admin API for dead letters.
struct EventsClient {
    let client: HostClient
    let database: DatabaseOptions

    /// One page of a list.
    struct Page {
        var letters: [JSONValue]
        /// The number of older ones that the host has dropped.
        var dropped: Int
        /// The start of the next page; nil if there is none.
        var next: String?
    }

    /// At most `limit`, oldest first.
    func page(limit: Int, after: String? = nil, function: String? = nil) throws(ClientFailure) -> Page {
        var query = "?limit=\(limit)"
        if let after { query += "&after=\(PercentCoding.encoded(after))" }
        if let function { query += "&function=\(PercentCoding.encoded(function))" }
        let answer = try ask("GET", query)
        return Page(letters: answer["deadLetters"]?.array ?? [], dropped: answer["dropped"]?.int ?? 0, next: answer["next"]?.string)
    }

    /// One dead letter with all details.
    func letter(_ id: String) throws(ClientFailure) -> JSONValue { try ask("GET", "/\(PercentCoding.encoded(id))") }

    /// Replays or deletes some or all.
    ///
    /// - Returns: their number.
    func act(_ verb: String, _ selection: EventSelection) throws(ClientFailure) -> Int {
        var request = JSONObject()
        if selection.all {
            if let function = selection.function { request["function"] = .string(function) }
        } else {
            request["ids"] = .array(selection.ids.map { .string($0) })
        }
        return try ask("POST", ":\(verb)", .object(request))["count"]?.int ?? 0
    }

    private func ask(_ method: String, _ rest: String, _ body: JSONValue? = nil) throws(ClientFailure) -> JSONValue {
        let target = "/_/api/databases/\(PercentCoding.encoded(database.name))/dead-letters\(rest)"
        let headers = body == nil ? [] : [(name: "Content-Type", value: "application/json")]
        let answer = try client.ask(HostRequest(method, target, headers: headers, body: body.map { .bytes($0.serialized()) } ?? .none))
        guard let json = try? JSONValue(parsing: answer.body), json.object != nil else {
            throw ClientFailure(.notHTTP, "the server at \(client.url) is not a Hearth host; check --url")
        }
        return json
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
            """)

    @Option(help: ArgumentHelp("Only those of one function.", valueName: "name"))
    var function: String?

    @Option(help: ArgumentHelp("At most this many.", valueName: "count"))
    var limit = 100

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
        if limit < 1 { throw ValidationError("--limit must be at least 1") }
    }

    func perform(_ client: HostClient) throws(ClientFailure) -> Outcome {
        let events = EventsClient(client: client, database: database)
        var letters: [JSONValue] = []
        var dropped = 0
        var next: String?
        repeat {
            let page = try events.page(limit: min(limit - letters.count, 1000), after: next, function: function)
            letters += page.letters
            dropped = page.dropped
            next = page.next
        } while next != nil && letters.count < limit
        return Outcome(
            text: table(letters, hasMore: next != nil, dropped: dropped),
            json: ["deadLetters": .array(letters), "hasMore": .bool(next != nil), "dropped": .int(Int64(dropped))])
    }

    private func table(_ letters: [JSONValue], hasMore: Bool, dropped: Int) -> String {
        guard !letters.isEmpty else { return "No dead letters." }
        let rows = [["ID", "GIVEN UP", "FUNCTION", "PATH", "ATTEMPTS", "REASON"]] + letters.map { letter in
            [
                letter["id"]?.string ?? "", letter["givenUpAt"]?.string ?? "", letter["function"]?.string ?? "", letter["path"]?.string ?? "",
                letter["attempts"]?.int.map(String.init) ?? "", letter["error"]?.string ?? letter["reason"]?.string ?? "",
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

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var connection: ConnectionOptions

    func perform(_ client: HostClient) throws(ClientFailure) -> Outcome {
        let letter = try EventsClient(client: client, database: database).letter(id)
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
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var connection: ConnectionOptions

    func perform(_ client: HostClient) throws(ClientFailure) -> Outcome {
        let count = try EventsClient(client: client, database: database).act("replay", selection)
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
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var connection: ConnectionOptions

    func perform(_ client: HostClient) throws(ClientFailure) -> Outcome {
        if selection.all { try force.confirm("delete all dead letters\(selection.function.map { " of \($0)" } ?? "") of \(client.url)") }
        let count = try EventsClient(client: client, database: database).act("delete", selection)
        return Outcome(text: "\(count) \(count == 1 ? "event" : "events") deleted", json: .object(["count": .int(Int64(count))]))
    }
}
