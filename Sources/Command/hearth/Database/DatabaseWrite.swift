import ArgumentParser
import CommandClient
import HearthJSON

/// The options of commands that write.
struct WriteOptions: ParsableArguments {
    @Argument(help: ArgumentHelp("A file with JSON; - for standard input (the default).", valueName: "file"))
    var file: String?

    @Option(name: .shortAndLong, parsing: .unconditional, help: ArgumentHelp("The JSON itself.", valueName: "json"))
    var data: String?

    @Flag(help: "Do not trigger functions.")
    var disableTriggers = false

    func validate() throws {
        if data != nil, file != nil { throw ValidationError("name a file or give --data, not both") }
    }

    /// - Throws: `ClientFailure` if the data cannot be read or `--data` is not JSON.
    func input() throws(ClientFailure) -> InputData { try InputData(data: data, file: file) }

    /// Sends the data.
    ///
    /// - Returns: the host's answer.
    func send(
        _ method: String, _ target: DatabaseTarget, _ input: InputData, _ client: HostClient, echo: Bool = false
    ) throws(ClientFailure) -> HostAnswer {
        var query: [(name: String, value: String)] = echo ? [] : [("print", "silent")]
        query.append(("writeSizeLimit", "unlimited"))
        if disableTriggers { query.append(("disableTriggers", "true")) }
        let progress = Progress("Sending", total: input.length)
        let request = HostRequest(
            method, target.target(query), headers: [("Content-Type", "application/json")], body: input.body(progress))
        let answer = try client.ask(request)
        progress.end()
        return answer
    }
}

/// `hearth database:set`: replaces the value at a location.
struct DatabaseSet: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "database:set", abstract: "Stores JSON data at a path, replacing existing data.",
        discussion: """
            Examples:
              hearth database:set /users/ada user.json
              hearth database:set /config/limit --data 100 --force
              generate | hearth database:set /report - --force
            """)

    @Argument(help: "The path from the root: /users/ada")
    var path: String

    @OptionGroup var write: WriteOptions
    @OptionGroup var force: ForceOption
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var connection: ConnectionOptions

    func perform(_ client: HostClient) throws(ClientFailure) -> Outcome {
        let target = try database.target(path)
        let input = try write.input()
        try force.confirm("replace all data at \(target) of \(client.url)", canAsk: !input.isStandardInput)
        _ = try write.send("PUT", target, input, client)
        return Outcome(text: "Data persisted at \(target)", json: .object(["path": .string("\(target)")]))
    }
}

/// `hearth database:update`: replaces some children of a location.
struct DatabaseUpdate: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "database:update", abstract: "Replaces some of the keys at a path; a key may itself be a path.",
        discussion: """
            Examples:
              hearth database:update /users/ada --data '{"born": 1815, "name/first": "Ada"}' --force
              hearth database:update /users changes.json
            """)

    @Argument(help: "The path from the root: /users/ada")
    var path: String

    @OptionGroup var write: WriteOptions
    @OptionGroup var force: ForceOption
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var connection: ConnectionOptions

    func perform(_ client: HostClient) throws(ClientFailure) -> Outcome {
        let target = try database.target(path)
        let input = try write.input()
        try force.confirm("change data at \(target) of \(client.url)", canAsk: !input.isStandardInput)
        _ = try write.send("PATCH", target, input, client)
        return Outcome(text: "Data updated at \(target)", json: .object(["path": .string("\(target)")]))
    }
}

/// `hearth database:push`: adds a child under a generated key.
struct DatabasePush: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "database:push", abstract: "Adds JSON data to the list at a path, and prints its key.",
        discussion: """
            Examples:
              hearth database:push /messages --data '{"text": "hello"}'
              hearth database:push /messages message.json
            """)

    @Argument(help: "The path from the root: /messages")
    var path: String

    @OptionGroup var write: WriteOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var connection: ConnectionOptions

    func perform(_ client: HostClient) throws(ClientFailure) -> Outcome {
        let target = try database.target(path)
        let answer = try write.send("POST", target, try write.input(), client, echo: true)
        guard let name = (try? JSONValue(parsing: answer.body))?["name"]?.string else {
            throw ClientFailure(.notHTTP, "the server at \(client.url) is not a Hearth host; check --url")
        }
        return Outcome(text: name, json: .object(["name": .string(name), "path": .string("\(target.appending([name]))")]))
    }
}

/// `hearth database:remove`: deletes a location.
struct DatabaseRemove: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "database:remove", abstract: "Removes all data at a path, of any size.",
        discussion: """
            Examples:
              hearth database:remove /users/ada
              hearth database:remove /logs --force --disable-triggers
            """)

    @Argument(help: "The path from the root: /users/ada")
    var path: String

    @Flag(help: "Do not trigger functions.")
    var disableTriggers = false

    @OptionGroup var force: ForceOption
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var connection: ConnectionOptions

    func perform(_ client: HostClient) throws(ClientFailure) -> Outcome {
        let target = try database.target(path)
        try force.confirm("remove all data at \(target) of \(client.url)")
        var removal = TreeRemoval(client, raisesTriggers: !disableTriggers) { count in
            if count > 1, Terminal.showsProgress { Terminal.showProgress("Removing  \(count) parts so far") }
        }
        try removal.remove(target)
        Terminal.endProgress()
        return Outcome(text: "Data removed at \(target)", json: .object(["path": .string("\(target)")]))
    }
}
