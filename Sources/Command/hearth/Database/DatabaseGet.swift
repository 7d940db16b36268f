import ArgumentParser
import CommandClient
import HearthJSON

/// `hearth database:get`: reads a location.
struct DatabaseGet: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "database:get", abstract: "Fetches and prints JSON data at a path.",
        discussion: """
            Examples:
              hearth database:get /users/ada --pretty
              hearth database:get / --shallow
              hearth database:get /messages --order-by-key --limit-to-last 10
              hearth database:get /users --order-by born --start-at 1900 --output users.json
            """)

    @Argument(help: "The path from the root: /users/ada")
    var path: String

    @OptionGroup var query: QueryOptions

    @Option(name: .shortAndLong, help: ArgumentHelp("The file to write to instead of standard output.", valueName: "file"))
    var output: String?

    @Flag(help: "Indent the result.")
    var pretty = false

    @Flag(help: "Only the keys of the children, each with the value true.")
    var shallow = false

    @Flag(help: "With priorities, in the form that database:import reads.")
    var export = false

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
        if let option = query.optionWithoutOrder {
            throw ValidationError("\(option) needs an order: --order-by-key, --order-by-value or --order-by PATH")
        }
    }

    func perform(_ client: HostClient) throws(ClientFailure) -> Outcome {
        var query = query.query
        query.isPretty = pretty
        query.isShallow = shallow
        query.isExport = export
        let file = try OutputFile(output)
        let isWrapped = connection.json && output == nil
        let progress = Progress("Reading", total: nil)
        var isBegun = false
        do throws(ClientFailure) {
            try client.download(HostRequest("GET", try database.target(path).target(query.parameters))) { (bytes) throws(ClientFailure) in
                if isWrapped, !isBegun { try file.write("{\"status\":\"success\",\"result\":") }
                isBegun = true
                try file.write(bytes)
                if output != nil { progress.update(file.count) }
            }
        } catch {
            guard isBegun, error.kind == .interrupted else { throw error }
            throw ClientFailure(
                .interrupted,
                "the answer was cut off after \(ByteCount.text(file.count)); database:export has no limit of size, see also the host's log")
        }
        progress.end()
        if isWrapped { try file.write("}") }
        try file.finish()
        guard let output else { return Outcome() }
        return Outcome(
            text: "\(ByteCount.text(file.count)) written to \(output)", json: .object(["file": .string(output), "bytes": .int(Int64(file.count))]))
    }
}

/// Options that select children.
struct QueryOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Order by a child of each child.", valueName: "path"))
    var orderBy: String?

    @Flag(help: "Order by key.")
    var orderByKey = false

    @Flag(help: "Order by value.")
    var orderByValue = false

    @Option(help: ArgumentHelp("At most this many children, from the first on.", valueName: "count"))
    var limitToFirst: Int?

    @Option(help: ArgumentHelp("At most this many children, up to the last.", valueName: "count"))
    var limitToLast: Int?

    @Option(parsing: .unconditional, help: ArgumentHelp("Start at this value, in the given order.", valueName: "value"))
    var startAt: String?

    @Option(parsing: .unconditional, help: ArgumentHelp("End at this value, in the given order.", valueName: "value"))
    var endAt: String?

    @Option(parsing: .unconditional, help: ArgumentHelp("Only children with this value, in the given order.", valueName: "value"))
    var equalTo: String?

    func validate() throws {
        if [orderBy != nil, orderByKey, orderByValue].count(where: { $0 }) > 1 {
            throw ValidationError("give only one of --order-by, --order-by-key and --order-by-value")
        }
        if limitToFirst != nil, limitToLast != nil { throw ValidationError("--limit-to-first and --limit-to-last exclude each other") }
        if let count = limitToFirst ?? limitToLast, count < 1 { throw ValidationError("a limit is at least 1") }
    }

    /// An option that requires an order but was given without one; nil if there is none.
    var optionWithoutOrder: String? {
        guard orderBy == nil, !orderByKey, !orderByValue else { return nil }
        let given = [
            ("--limit-to-first", limitToFirst != nil), ("--limit-to-last", limitToLast != nil), ("--start-at", startAt != nil),
            ("--end-at", endAt != nil), ("--equal-to", equalTo != nil),
        ]
        return given.first { $0.1 }?.0
    }

    var query: RESTQuery {
        var query = RESTQuery()
        query.order = orderBy.map { .child($0) } ?? (orderByKey ? .key : orderByValue ? .value : nil)
        query.limitToFirst = limitToFirst
        query.limitToLast = limitToLast
        query.startAt = startAt
        query.endAt = endAt
        query.equalTo = equalTo
        return query
    }
}

/// `hearth database:export`: saves a location in the form that `database:import` reads.
struct DatabaseExport: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "database:export", abstract: "Saves a consistent snapshot of all data at a path, with priorities.",
        discussion: """
            The file gets its name when it is complete; a failed export leaves an existing file as it is.

            Examples:
              hearth database:export --output backup.json
              hearth database:export /users --output users.json
              hearth database:export | gzip > backup.json.gz
            """)

    @Argument(help: "The path from the root: /users")
    var path = "/"

    @Option(name: .shortAndLong, help: ArgumentHelp("The file to write to instead of standard output.", valueName: "file"))
    var output: String?

    @Flag(help: "Indent the result.")
    var pretty = false

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var connection: ConnectionOptions

    func perform(_ client: HostClient) throws(ClientFailure) -> Outcome {
        let target = try database.target(path)
        var query = RESTQuery()
        query.isExport = true
        query.isPretty = pretty
        let file = try OutputFile(output)
        let progress = Progress("Exporting", total: nil)
        try client.download(HostRequest("GET", target.target(query.parameters))) { (bytes) throws(ClientFailure) in
            try file.write(bytes)
            progress.update(file.count)
        }
        progress.end()
        try file.finish()
        guard let output else { return Outcome() }
        return Outcome(
            text: "\(ByteCount.text(file.count)) of \(target) exported to \(output)",
            json: .object(["path": .string("\(target)"), "file": .string(output), "bytes": .int(Int64(file.count))]))
    }
}
