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

    @Option(help: "The file that says what is served.")
    var config = "functions.json"

    @Option(help: "The address to listen on; overrides server.host.")
    var host: String?

    @Option(help: "The port to listen on, 0 for any; overrides server.port.")
    var port: Int?

    @Option(name: .customLong("data-dir"), help: ArgumentHelp("Where the host keeps its data. (default: .hearth)", valueName: "dir"))
    var dataDirectory: String?

    /// The name of `--data-dir` in versions before.
    @Option(help: .hidden)
    var data: String?

    @Option(help: "development takes \"owner\" and unsigned emulator tokens of this machine; production does not.")
    var mode = Configuration.Mode.development

    @Option(
        help: ArgumentHelp(
            "From where \"owner\" and unsigned tokens count in development mode: off, loopback or network. "
                + "(default: loopback; off where other machines reach the host)", valueName: "from"))
    var developmentTokens: DevelopmentAccess?

    @Flag(help: "Bring what is saved into service at once: sources of plugins, libraries, settings and environment files.")
    var watch = false

    /// Where a program that starts a host is told that it serves.
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
            configuration = try Configuration.load(file: config, mode: mode)
        } catch {
            try fail(error.description, options)
        }
        do {
            let host = try HearthHost(configuration, options: options, executable: Terminal.executable)
            try host.run { summary in
                Terminal.write(Banner.text(summary))
                if let announce { HostAnnouncement(summary).write(to: announce) }
            }
        } catch {
            try fail("hearth: \(error)", options)
        }
    }

    /// Says why there is no host, also to the one that would have been taken over from.
    private func fail(_ text: String, _ options: HostOptions) throws -> Never {
        options.takeover?.refuse(text)
        Terminal.writeError(text)
        throw ExitCode.failure
    }
}

extension Configuration.Mode: ExpressibleByArgument {}
extension DevelopmentAccess: ExpressibleByArgument {}
