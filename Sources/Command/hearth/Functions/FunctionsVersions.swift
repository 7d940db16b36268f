import AdminProtocol
import ArgumentParser
import CommandClient
import Glibc
import HearthJSON

/// `hearth functions:versions`: lists the versions of a function.
struct FunctionsVersions: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "functions:versions", abstract: "Lists the versions of a function that the host keeps, newest first.",
        discussion: """
            Example:
              hearth functions:versions addMessage
            """)

    @Argument(help: "The function.")
    var name: String

    @OptionGroup var connection: ConnectionOptions

    func perform(_ client: HostClient) throws(ClientFailure) -> Outcome {
        let versions = try FunctionsClient(client).versions(of: name)
        let rows = versions.map(row)
        let heading = ["Version", "Traffic", "Made", "Origin", "Deployment", "Plugin", "Artifact", "File"]
        return Outcome(text: TextTable.lines([heading] + rows).joined(separator: "\n"), json: VersionList(versions: versions).json)
    }

    private func row(_ version: VersionEntry) -> [String] {
        let traffic = version.traffic == 0 ? "-" : "\(version.traffic)%"
        return [
            "\(version.version)", traffic, Age.text(version.time), version.origin, "\(version.deployment)", version.plugin,
            String(version.artifact.prefix(12)), version.file,
        ]
    }
}

/// `hearth functions:rollback`: returns to an earlier version.
struct FunctionsRollback: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "functions:rollback", abstract: "Sends all calls of a function to an earlier version, at once.",
        discussion: """
            Without --to, returns to the version that had all calls before. Nothing is built or uploaded; calls that have started finish.

            Examples:
              hearth functions:rollback addMessage
              hearth functions:rollback addMessage --to 3
            """)

    @Argument(help: "The function.")
    var name: String

    @Option(help: ArgumentHelp("The version, as functions:versions lists it.", valueName: "version"))
    var to: Int?

    @OptionGroup var connection: ConnectionOptions

    func perform(_ client: HostClient) throws(ClientFailure) -> Outcome {
        let answer = try FunctionsClient(client).rollBack(name, to: to)
        let words = [answer.from, answer.to].map { $0.map(String.init) ?? "?" }
        let text = words[0] == words[1] ? "\(name) has version \(words[1]) already" : "\(name) is back at version \(words[1]); it was at \(words[0])"
        return Outcome(text: text, json: answer.json)
    }
}

/// `hearth functions:split`: distributes calls over two versions.
struct FunctionsSplit: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "functions:split", abstract: "Divides the calls of a function between two of its versions, in percent.",
        discussion: """
            If one version is named, the version that gets calls now gets the rest. 100 sends all calls to one version.

            Examples:
              hearth functions:split addMessage 5=90 6=10
              hearth functions:split addMessage 6=10
              hearth functions:split addMessage 6=100
            """)

    /// A version with its share.
    struct Share: ExpressibleByArgument {
        var version: Int
        var percent: Int

        init?(argument: String) {
            let parts = argument.split(separator: "=", omittingEmptySubsequences: false)
            guard parts.count == 2, let version = Int(parts[0]), version > 0,
                let percent = Int(parts[1].hasSuffix("%") ? parts[1].dropLast() : parts[1]), (0...100).contains(percent)
            else { return nil }
            self.version = version
            self.percent = percent
        }
    }

    @Argument(help: "The function.")
    var name: String

    @Argument(help: ArgumentHelp("A version and its percentage: 6=10", valueName: "version=percent"))
    var shares: [Share]

    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
        guard shares.count == 1 || shares.count == 2 else { throw ValidationError("name one version or two, such as 5=90 6=10") }
        guard Set(shares.map(\.version)).count == shares.count else { throw ValidationError("name two different versions") }
        guard shares.count == 1 || shares.map(\.percent).reduce(0, +) == 100 else { throw ValidationError("the percentages must add up to 100") }
    }

    func perform(_ client: HostClient) throws(ClientFailure) -> Outcome {
        let api = FunctionsClient(client)
        let shares = try completed(api).filter { $0.percent > 0 }.map { ($0.version, $0.percent) }
        let answer = try api.split(name, TrafficShares(Dictionary(shares) { $1 }))
        let traffic = (answer.traffic?.percents ?? [:]).sorted { $0.key < $1.key }.map { "version \($0.key) gets \($0.value)%" }
        return Outcome(text: "\(name): \(traffic.joined(separator: ", "))", json: answer.json)
    }

    /// Adds the version that gets the rest.
    private func completed(_ api: FunctionsClient) throws(ClientFailure) -> [Share] {
        guard shares.count == 1, shares[0].percent < 100 else { return shares }
        guard let function = try api.functions().functions.first(where: { $0.name == name }) else {
            throw ClientFailure(.invalidInput, "there is no function \(name); `hearth functions:list` lists all")
        }
        let others = function.traffic.map(\.version).filter { $0 != shares[0].version }
        guard others.count == 1, let other = Share(argument: "\(others[0])=\(100 - shares[0].percent)") else {
            throw try ambiguity(api)
        }
        return shares + [other]
    }

    /// The reason why the version that gets the rest is ambiguous.
    private func ambiguity(_ api: FunctionsClient) throws(ClientFailure) -> ClientFailure {
        let (version, rest) = (shares[0].version, 100 - shares[0].percent)
        let others = try api.versions(of: name).map(\.version).filter { $0 != version }
        guard let newest = others.first else {
            return ClientFailure(.invalidInput, "\(name) has version \(version) only; calls can be divided once there is another")
        }
        return ClientFailure(.invalidInput, "which version gets the other \(rest)% is not clear; name it, as in \(newest)=\(rest)")
    }
}
