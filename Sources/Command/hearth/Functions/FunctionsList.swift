import AdminProtocol
import ArgumentParser
import CommandClient
import HearthJSON

/// `hearth functions:list`: lists the functions of the host.
struct FunctionsList: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "functions:list", abstract: "Lists the functions of a host with their triggers and the versions that get calls.",
        discussion: """
            Examples:
              hearth functions:list
              hearth functions:list --json
            """)

    @OptionGroup var connection: ConnectionOptions

    func perform(_ client: HostClient) throws(ClientFailure) -> Outcome {
        let api = FunctionsClient(client)
        let (revision, functions) = try api.functions()
        let json: JSONValue = ["revision": .int(Int64(revision)), "functions": .array(functions.map(\.json))]
        guard !functions.isEmpty else { return Outcome(text: "No functions found in project \(try client.hostDescription().project).", json: json) }
        let rows = functions.sorted { $0.name < $1.name }.map { function in
            [
                function.name, FunctionText.traffic(function), function.trigger, function.region, FunctionText.memory(function.memoryMebibytes),
                function.plugin,
            ]
        }
        let heading = ["Function", "Version", "Trigger", "Location", "Memory", "Plugin"]
        var lines = TextTable.lines([heading] + rows)
        for function in functions { if let problem = function.problem { lines.append("\(function.name) is not served: \(problem)") } }
        return Outcome(text: lines.joined(separator: "\n"), json: json)
    }
}

/// Formats properties of functions.
enum FunctionText {
    /// `5`, or `6 (90%), 5 (10%)` where two versions share the calls.
    static func traffic(_ function: HostFunction) -> String {
        guard function.traffic.count > 1 else { return function.traffic.first.map { "\($0.version)" } ?? "-" }
        return function.traffic.map { "\($0.version) (\($0.percent)%)" }.joined(separator: ", ")
    }

    /// `256MiB`, `2GiB`.
    static func memory(_ mebibytes: Int) -> String {
        mebibytes >= 1024 && mebibytes % 1024 == 0 ? "\(mebibytes / 1024)GiB" : "\(mebibytes)MiB"
    }
}

/// `hearth functions:delete`: deletes functions.
struct FunctionsDelete: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "functions:delete", abstract: "Deletes functions of a host, with all of their versions.",
        discussion: """
            A name means a function, a group (all names that begin with it and a dash), or a plugin; PLUGIN:NAME means that name within
            a plugin. Calls that have started are answered.

            Examples:
              hearth functions:delete oldMessage
              hearth functions:delete chat Messages:addMessage --force
            """)

    @Argument(help: ArgumentHelp("A function, a group, a plugin, or PLUGIN:NAME.", valueName: "name"))
    var names: [String]

    @Option(help: ArgumentHelp("Only functions at this location.", valueName: "region"))
    var region: String?

    @OptionGroup var force: ForceOption
    @OptionGroup var connection: ConnectionOptions

    func perform(_ client: HostClient) throws(ClientFailure) -> Outcome {
        let api = FunctionsClient(client)
        let functions = try api.functions().functions.filter { region == nil || $0.region.split(separator: ", ").contains(Substring(region ?? "")) }
        let filter: FunctionFilter
        do throws(FunctionFilter.Mistake) {
            filter = try FunctionFilter(words: names, plugins: Set(functions.map(\.plugin)).sorted())
        } catch {
            throw ClientFailure(.invalidInput, error.description)
        }
        for item in filter.items where !functions.contains(where: { item.matches(plugin: $0.plugin, function: $0.name) }) {
            throw ClientFailure(.invalidInput, "\(item.text) matches no function; `hearth functions:list` lists all")
        }
        for item in filter.items where item.name == nil {
            // The name of a plugin has precedence, which may surprise.
            for function in functions where function.name == item.plugin && !connection.json {
                Terminal.writeError("\(item.text) is taken as the plugin; the function is \(function.plugin):\(function.name)")
            }
        }
        let doomed = functions.filter { filter.matches(plugin: $0.plugin, function: $0.name) }.map(\.name).sorted()
        let count = doomed.count == 1 ? "the function" : "\(doomed.count) functions"
        try force.confirm("delete \(count) \(doomed.joined(separator: ", ")) of \(client.url)")
        return try delete(doomed, api)
    }

    private func delete(_ names: [String], _ api: FunctionsClient) throws(ClientFailure) -> Outcome {
        var deleted: [String] = []
        var revision: Int?
        for name in names {
            do throws(ClientFailure) {
                revision = try api.delete(name).revision
                deleted.append(name)
            } catch {
                guard !deleted.isEmpty else { throw error }
                throw ClientFailure(error.kind, "\(name) was not deleted (\(error.message)); deleted: \(deleted.joined(separator: ", "))")
            }
        }
        return Outcome(
            text: deleted.map { "\($0) is deleted" }.joined(separator: "\n"),
            json: ["deleted": .array(deleted.map { .string($0) }), "revision": revision.map { JSONValue($0) } ?? .null])
    }
}
