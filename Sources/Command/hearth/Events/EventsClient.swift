import ArgumentParser
import CommandClient
import HearthJSON

/// Dead letters, as the host's administration shows them.
struct EventsClient {
    let client: HostClient
    let database: DatabaseOptions

    /// A list of them.
    struct Page {
        var letters: [JSONValue]
        /// How many older ones the host has dropped.
        var dropped: Int
        /// Where the next page begins; nil when there is none.
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

    /// One of them, with everything that is known of it.
    func letter(_ id: String) throws(ClientFailure) -> JSONValue { try ask("GET", "/\(PercentCoding.encoded(id))") }

    /// Has some or all replayed or deleted.
    ///
    /// - Returns: how many were.
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
            throw ClientFailure(.notHTTP, "what answers at \(client.url) is not a host of Hearth; check --url")
        }
        return json
    }
}

/// Which dead letters are meant.
struct EventSelection: ParsableArguments {
    @Argument(help: ArgumentHelp("What events:list shows as ID.", valueName: "id"))
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
