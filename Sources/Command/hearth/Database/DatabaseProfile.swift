import ArgumentParser
import CommandClient
import HearthJSON

/// `hearth database:profile`: what is done to a database, and how long it takes.
struct DatabaseProfile: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "database:profile", abstract: "Records what is done to the database, and reports which places take time.",
        discussion: """
            Ctrl-C ends it and shows the report. A place with more than 25 children shows them as one, $wildcard.

            Examples:
              hearth database:profile
              hearth database:profile --duration 60 --json
              hearth database:profile --raw > operations.ndjson
            """)

    @Option(name: .shortAndLong, help: ArgumentHelp("End after so many seconds.", valueName: "seconds"))
    var duration: Int?

    @Flag(help: "Print each operation as it ends, one JSON object a line, and no report.")
    var raw = false

    @Flag(name: .customLong("no-collapse"), help: "Show each place, however many there are beside each other.")
    var showsEach = false

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
        if let duration, duration < 1 { throw ValidationError("--duration must be at least 1") }
        if raw, connection.json { throw ValidationError("--raw and --json exclude each other: --raw prints each operation, --json the sums") }
    }

    func perform(_ client: HostClient) throws(ClientFailure) -> Outcome {
        let recording = ProfileRecording(collapses: !showsEach, seconds: duration, printsEach: raw)
        let report = try recording.run(client, instance: database.instance)
        return raw ? Outcome() : Outcome(text: report.text, json: report.json)
    }
}
