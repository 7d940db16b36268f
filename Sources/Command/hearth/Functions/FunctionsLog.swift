import ArgumentParser
import HearthBytes
import CommandClient
import Glibc
import HearthJSON

/// `hearth functions:log`: what functions have logged and printed, and what the host says of them.
struct FunctionsLog: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "functions:log", abstract: "Shows what functions have logged, oldest line first.",
        discussion: """
            Without a filter the host's own lines are shown too. --json prints each line as the JSON object that it is.

            Examples:
              hearth functions:log
              hearth functions:log --only addMessage,makeUppercase --level warning --since 10m
              hearth functions:log --invocation k2j4h5g6f7d8
              hearth functions:log --follow
            """)

    @Option(help: ArgumentHelp("Only lines of these functions, between commas.", valueName: "names"))
    var only: String?

    @Option(help: ArgumentHelp("Only lines as grave as this: trace, debug, info, notice, warning, error or critical.", valueName: "level"))
    var level: LogLevel?

    @Option(help: ArgumentHelp("Only lines of one call.", valueName: "id"))
    var invocation: String?

    @Option(help: ArgumentHelp("Only lines of one trace: of a request and everything that it set off.", valueName: "id"))
    var trace: String?

    @Option(help: ArgumentHelp("Only lines since then: 30s, 10m, 2h or 7d ago, or a time such as 2026-01-31T12:00:00Z.", valueName: "time"))
    var since: String?

    @Option(help: ArgumentHelp("Only lines until then.", valueName: "time"))
    var until: String?

    @Option(
        name: [.customShort("n"), .long],
        help: ArgumentHelp("The newest so many. (default: 35; all where --since, --invocation or --trace is given)", valueName: "count"))
    var lines: Int?

    @Flag(name: [.customShort("f"), .long], help: "Go on with what is logged from now on, until Ctrl-C.")
    var follow = false

    @OptionGroup var connection: ConnectionOptions

    private static let linesMax = 10_000

    func validate() throws {
        if let lines, !(0...Self.linesMax).contains(lines) { throw ValidationError("--lines must be a number from 0 to \(Self.linesMax)") }
        if follow, until != nil { throw ValidationError("--follow goes on with what is logged from now on; leave --until out") }
    }

    func perform(_ client: HostClient) throws(ClientFailure) -> Outcome {
        let log = LogClient(client, selection)
        let printer = LogPrinter(isJSON: connection.json)
        var isEmpty = true
        if follow {
            // To stop looking is not a failure.
            signal(SIGINT) { _ in _exit(0) }
            try log.follow(tell: { Terminal.writeError("hearth: \($0)") }) { printer.write($0, $1) }
        } else {
            try log.read {
                isEmpty = false
                printer.write($0, $1)
            }
            if isEmpty { try requireFunctions(client) }
        }
        return Outcome()
    }

    /// A function that was deleted may have left lines: names are looked at only where there are none.
    private func requireFunctions(_ client: HostClient) throws(ClientFailure) {
        guard !selection.functions.isEmpty else { return }
        let known = try FunctionsClient(client).functions().functions.map(\.name)
        guard let unknown = selection.functions.first(where: { !known.contains($0) }) else { return }
        let hint = Spelling.question(for: unknown, among: known) ?? "`hearth functions:list` shows what there is"
        throw ClientFailure(.invalidInput, "there is no function \(unknown); \(hint)")
    }

    private var selection: LogSelection {
        var selection = LogSelection()
        selection.functions = (only ?? "").split(separator: ",").map { String($0.hasPrefix("functions:") ? $0.dropFirst(10) : $0) }
        selection.level = level?.rawValue
        selection.invocation = invocation
        selection.trace = trace
        selection.since = since
        selection.until = until
        let isNarrow = since != nil || invocation != nil || trace != nil
        selection.limit = lines ?? (isNarrow ? Self.linesMax : 35)
        return selection
    }
}

/// How grave a line is.
enum LogLevel: String, CaseIterable, ExpressibleByArgument {
    case trace, debug, info, notice, warning, error, critical
}
