import ArgumentParser
import CommandClient
import HearthJSON

/// `hearth functions:list`: what the host serves.
struct FunctionsList: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "functions:list", abstract: "Lists the functions of a host with what starts them and which version gets calls.",
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
        guard !functions.isEmpty else { return Outcome(text: "No functions found in project \(try api.project()).", json: json) }
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

/// Parts of functions for people.
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
