import AdminProtocol
import ArgumentParser
import HearthBytes
import CommandClient
import Glibc
import HearthJSON

/// `hearth functions:log`: shows the log of functions, and the host's lines about them.
struct FunctionsLog: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "functions:log", abstract: "Shows the log of functions, oldest line first.",
        discussion: """
            Without a filter the host's own lines are shown too. --json prints each line as a JSON object.

            Examples:
              hearth functions:log
              hearth functions:log --only addMessage,makeUppercase --level warning --since 10m
              hearth functions:log --invocation k2j4h5g6f7d8
              hearth functions:log --follow
            """)

    @Option(help: ArgumentHelp("Only lines of these functions, separated by commas.", valueName: "names"))
    var only: String?

    @Option(help: ArgumentHelp("Only lines of at least this severity: trace, debug, info, notice, warning, error or critical.", valueName: "level"))
    var level: LogLevel?

    @Option(help: ArgumentHelp("Only lines of one call.", valueName: "id"))
    var invocation: String?

    @Option(help: ArgumentHelp("Only lines of one trace: a request and everything that it caused.", valueName: "id"))
    var trace: String?

    @Option(help: ArgumentHelp("Only lines since this time: 30s, 10m, 2h or 7d ago, or a time such as 2026-01-31T12:00:00Z.", valueName: "time"))
    var since: String?

    @Option(help: ArgumentHelp("Only lines until this time.", valueName: "time"))
    var until: String?

    @Option(
        name: [.customShort("n"), .long],
        help: ArgumentHelp("The number of newest lines. (default: 35; all with --since, --invocation or --trace)", valueName: "count"))
    var lines: Int?

    @Flag(name: [.customShort("f"), .long], help: "Continue with new lines, until Ctrl-C.")
    var follow = false

    @OptionGroup var connection: ConnectionOptions

    private static let linesMax = 10_000

    func validate() throws {
        if let lines, !(0...Self.linesMax).contains(lines) { throw ValidationError("--lines must be a number from 0 to \(Self.linesMax)") }
        if follow, until != nil { throw ValidationError("--follow and --until exclude each other") }
    }

    func perform(_ client: HostClient) throws(ClientFailure) -> Outcome {
        let log = LogClient(client, selection)
        let printer = LogPrinter(isJSON: connection.json)
        var isEmpty = true
        if follow {
            // Ending with Ctrl-C is not a failure.
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

    /// A deleted function may still have lines: names are checked only if there are none.
    private func requireFunctions(_ client: HostClient) throws(ClientFailure) {
        guard !selection.functions.isEmpty else { return }
        let known = try FunctionsClient(client).functions().functions.map(\.name)
        guard let unknown = selection.functions.first(where: { !known.contains($0) }) else { return }
        let hint = Spelling.question(for: unknown, among: known) ?? "`hearth functions:list` lists all"
        throw ClientFailure(.invalidInput, "there is no function \(unknown); \(hint)")
    }

    private var selection: LogSelection {
        var selection = LogSelection()
        selection.functions = (only ?? "").split(separator: ",").map { String(FunctionFilter.selector(String($0))) }
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

/// The severity of a line.
enum LogLevel: String, CaseIterable, ExpressibleByArgument {
    case trace, debug, info, notice, warning, error, critical
}

/// Prints lines of the log: `2026-01-31T12:00:00.000Z I addMessage: adding a message  uid=u1`, or verbatim JSON.
struct LogPrinter {
    let isJSON: Bool
    private let hasColour = Terminal.hasColour

    init(isJSON: Bool) { self.isJSON = isJSON }

    func write(_ line: Span<UInt8>, _ value: JSONValue) {
        guard !isJSON else { return put(line.withUnsafeBufferPointer { Array($0) } + [UInt8(ascii: "\n")]) }
        put(Array((text(value) + "\n").utf8))
    }

    private func text(_ line: JSONValue) -> String {
        let severity = line["severity"]?.string ?? "info"
        let letter = styled(Self.colour(severity), severity.prefix(1).uppercased())
        let name = PrintableText.lines(line["label"]?.string ?? "hearth")
        let message = PrintableText.lines(line["message"]?.string ?? "")
        let more = styled("2", Self.more(line).map { "  \($0)=\($1)" }.joined())
        let calls = (line["calls"]?.array ?? []).map { "\n    at \(PrintableText.lines($0.string ?? ""))" }.joined()
        return "\(styled("2", line["time"]?.string ?? "")) \(letter) \(name): \(message)\(more)\(calls)"
    }

    /// The additional members of a line.
    private static func more(_ line: JSONValue) -> [(String, String)] {
        let own = line["fields"]?.object.map { Array($0) } ?? []
        let others = line.object.map { Array($0) } ?? []
        // A line of the host names its function and plugin; a function's own line begins with its name.
        let label = line["label"]
        let subject = ["function", "plugin"].compactMap { name in
            line[name].flatMap { $0 == label || line["function"] == label ? nil : (key: name, value: $0) }
        }
        return (subject + own + others.filter { !usual.contains($0.key) }).map { name, value in
            (PrintableText.lines(name), PrintableText.lines(value.string ?? value.description))
        }
    }

    private static let usual: Set = [
        "id", "time", "severity", "label", "function", "version", "artifact", "plugin", "invocation", "trace", "pid", "stream", "message",
        "fields", "calls",
    ]

    private func styled(_ codes: String, _ text: String) -> String {
        hasColour && !codes.isEmpty && !text.isEmpty ? "\u{1B}[\(codes)m\(text)\u{1B}[0m" : text
    }

    private static func colour(_ severity: String) -> String {
        switch severity {
        case "trace", "debug": "2"
        case "notice": "36"
        case "warning": "33"
        case "error", "critical": "31"
        default: ""
        }
    }

    private func put(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            // The reader has closed the pipe, as in `| head`.
            if count < 0, errno != EINTR { _exit(0) }
            rest = rest.dropFirst(max(0, count))
        }
    }
}
