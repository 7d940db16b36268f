import Deployment
import ArgumentParser
import Configuration
import EventLoop
import Host
import Glibc
import HTTP

/// `hearth serve`: the host.
struct Serve: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Serves the functions of functions.json until it is interrupted.",
        discussion: """
            Examples:
              hearth serve
              hearth serve --watch
              hearth serve --port 8080 --mode production --data-dir /var/lib/hearth
            """)

    @Option(help: "The configuration file.")
    var config = "functions.json"

    @Option(help: "The address to listen on; overrides server.host.")
    var host: String?

    @Option(help: "The port to listen on, 0 for any; overrides server.port.")
    var port: Int?

    @Option(name: .customLong("data-dir"), help: ArgumentHelp("The data directory. (default: .hearth)", valueName: "dir"))
    var dataDirectory: String?

    /// The name of `--data-dir` in earlier versions.
    @Option(help: .hidden)
    var data: String?

    @Option(help: "development accepts \"owner\" and unsigned emulator tokens from this machine; production does not.")
    var mode = Configuration.Mode.development

    @Option(
        help: ArgumentHelp(
            "The origin from which \"owner\" and unsigned tokens are accepted in development mode: off, loopback or network. "
                + "(default: loopback; off if other machines reach the host)", valueName: "from"))
    var developmentTokens: DevelopmentAccess?

    @Flag(help: "Apply saved changes at once: sources of plugins, libraries, settings and environment files.")
    var watch = false

    @Flag(help: "Only check the configuration, and that no program uses the data directory or the port; then end. Libraries may be missing.")
    var check = false

    /// Descriptor on which the host announces that it serves, for the program that started it.
    @Option(help: .hidden)
    var announce: Int32?

    func validate() throws {
        if developmentTokens != nil, mode == .production {
            throw ValidationError("--development-tokens is for --mode development; production mode refuses such tokens")
        }
        if let port, !(0...65535).contains(port) { throw ValidationError("--port must be a number from 0 to 65535") }
    }

    func run() throws {
        ThreadSignals.block(HearthHost.signals)
        var options = HostOptions(host: host, port: port, dataDirectory: dataDirectory ?? data ?? ".hearth")
        options.developmentAccess = developmentTokens
        options.serviceManager = ServiceManager.fromEnvironment()
        options.standIn = { StandIn.become(for: $0, status: $1, isEnding: $2) }
        do {
            options.takeover = try TakeoverStart.fromEnvironment()
            if options.takeover == nil { options.sockets = try ListeningSocket.fromServiceManager() }
        } catch let error as LoopError {
            try fail("hearth: the service manager's sockets cannot be used: \(error)", options)
        }
        if watch { options.watch = { WatchLines.show($0) } }
        let configuration: Configuration
        do {
            configuration = try Configuration.load(file: config, mode: mode, isBeforeBuild: check)
        } catch {
            try fail(error.description, options)
        }
        do {
            if check { return try HearthHost.check(configuration, options: options) }
            let host = try HearthHost(configuration, options: options, executable: Terminal.executable)
            try host.run { summary in
                Terminal.write(Banner.text(summary))
                if let announce { HostAnnouncement(summary).write(to: announce) }
            }
        } catch {
            try fail("hearth: \(error)", options)
        }
    }

    /// Reports why the host cannot start, also to the host that would have been replaced.
    private func fail(_ text: String, _ options: HostOptions) throws -> Never {
        options.takeover?.refuse(text)
        Terminal.writeError(text)
        throw ExitCode.failure
    }
}

extension Configuration.Mode: ExpressibleByArgument {}
extension DevelopmentAccess: ExpressibleByArgument {}

/// The output of `hearth serve` when it serves.
enum Banner {
    static func text(_ summary: HostSummary) -> String {
        var lines = ["", "Hearth serves \(summary.project) at \(summary.address.url) in \(summary.mode.rawValue) mode."]
        if let warning = summary.warning {
            lines += ["", "WARNING: \(warning)"]
        } else if summary.mode == .development {
            lines.append("Programs and pages of this machine may use \"owner\" and unsigned tokens; --mode production refuses them.")
        }
        lines.append("")
        lines += functionTable(summary.functions)
        lines.append("")
        lines.append("Database  \(summary.address.url)/?ns=\(summary.defaultNamespace)")
        lines.append("Messages  \(summary.address.url)/v1/projects/\(summary.project)/messages:send")
        lines.append("Health    \(summary.address.url)/_/health")
        lines.append("Data      \(summary.dataDirectory)")
        if !summary.refusals.isEmpty {
            lines.append("")
            lines.append("Left out:")
            lines += summary.refusals.map { "  \($0)" }
        }
        lines.append("")
        return lines.joined(separator: "\n")
    }

    private static func functionTable(_ functions: [HostSummary.Function]) -> [String] {
        guard !functions.isEmpty else {
            return ["No functions: deploy them with hearth deploy, or name a plugin under \"plugins\" in functions.json."]
        }
        let rows = [["Function", "Trigger", "Plugin", "Version", "URL"]]
            + functions.map { [$0.name, $0.trigger, $0.plugin, "\($0.version)", $0.url ?? "-"] }
        let widths = (0..<4).map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            (0..<4).map { row[$0] + String(repeating: " ", count: widths[$0] - row[$0].count) }.joined(separator: "  ") + "  " + row[4]
        }
    }
}

/// The output of `hearth serve --watch`.
enum WatchLines {
    static func show(_ report: WatchReport) {
        switch report.kind {
        case .progress:
            if Terminal.showsProgress { Terminal.showProgress(String(report.sentence.prefix(max(20, Terminal.columns - 1)))) }
        case .failure:
            Terminal.endProgress()
            Terminal.writeError(text(report, isColoured: Terminal.hasColour))
        case .success, .notice:
            Terminal.endProgress()
            Terminal.write(text(report, isColoured: Terminal.hasColour))
        }
    }

    /// The compiler's diagnostics, then the sentence.
    static func text(_ report: WatchReport, isColoured: Bool) -> String {
        var diagnostics = report.diagnostics
        while diagnostics.hasSuffix("\n") { diagnostics.removeLast() }
        guard isColoured else { return diagnostics.isEmpty ? report.sentence : "\(diagnostics)\n\(report.sentence)" }
        let colour =
            switch report.kind {
            case .success: "32"
            case .failure: "1;31"
            case .notice, .progress: "36"
            }
        let sentence = "\u{1B}[\(colour)m\(report.sentence)\u{1B}[0m"
        return diagnostics.isEmpty ? sentence : "\(coloured(diagnostics))\n\(sentence)"
    }

    /// The same text with coloured severities.
    private static func coloured(_ diagnostics: String) -> String {
        let words = [(" error: ", "1;31"), (" warning: ", "1;33"), (" note: ", "1;36")]
        return diagnostics.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            for (word, colour) in words {
                guard let range = line.firstRange(of: word) else { continue }
                return "\(line[..<range.lowerBound]) \u{1B}[\(colour)m\(word.dropFirst().dropLast())\u{1B}[0m \(line[range.upperBound...])"
            }
            return String(line)
        }.joined(separator: "\n")
    }
}
