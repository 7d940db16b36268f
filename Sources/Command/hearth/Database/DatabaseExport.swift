import ArgumentParser
import CommandClient
import HearthJSON

/// `hearth database:export`: saves a place in the form that `database:import` reads.
struct DatabaseExport: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "database:export", abstract: "Saves all data at a path, with priorities, as it is at one moment.",
        discussion: """
            The file gets its name when it is complete; an export that fails leaves what was there.

            Examples:
              hearth database:export --output backup.json
              hearth database:export /users --output users.json
              hearth database:export | gzip > backup.json.gz
            """)

    @Argument(help: "Where, from the root: /users")
    var path = "/"

    @Option(name: .shortAndLong, help: ArgumentHelp("The file to write to instead of standard output.", valueName: "file"))
    var output: String?

    @Flag(help: "Indent the result.")
    var pretty = false

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var connection: ConnectionOptions

    func perform(_ client: HostClient) throws(ClientFailure) -> Outcome {
        let target = try database.target(path)
        var query = QueryParameters()
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
