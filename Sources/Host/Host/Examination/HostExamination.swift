import Configuration
import EventLoop
import Glibc
import HostCore

/// Checks everything that a host needs, without one: the configuration, what it names, the data directory and the machine. Changes nothing.
///
/// It uses the code with which a host reads and checks the same things when it starts.
public struct HostExamination {
    /// The host to check.
    public struct Subject {
        /// The configuration file.
        public var file: String
        public var mode: Configuration.Mode
        public var dataDirectory: String
        /// Overrides `server.host`.
        public var host: String?
        /// Overrides `server.port`.
        public var port: Int?
        /// This program, which loads libraries in a process of its own.
        public var program: String

        /// A host as `hearth serve` would start it.
        public init(file: String, mode: Configuration.Mode, dataDirectory: String, host: String?, port: Int?, program: String) {
            self.file = file
            self.mode = mode
            self.dataDirectory = dataDirectory
            self.host = host
            self.port = port
            self.program = program
        }
    }

    /// The state of the address that the host listens on.
    public enum Port: Equatable {
        case free
        /// A program listens on it already.
        case taken
        /// It cannot be listened on, or it is unknown.
        case unusable
    }

    let subject: Subject
    /// Nil if it has errors.
    public private(set) var configuration: Configuration?
    /// In the order of the checks.
    public private(set) var findings: [HostFinding] = []
    public private(set) var port = Port.unusable
    /// Whether a host uses the data directory.
    public let isRunning: Bool

    /// The URL at which a running host is reached from this machine; nil if the configuration has errors.
    public var url: String? {
        guard let server = configuration?.server else { return nil }
        var host = subject.host ?? server.host
        if host == "0.0.0.0" { host = "127.0.0.1" }
        if host == "::" { host = "::1" }
        return HostAddress(host: host, port: subject.port ?? server.port, isTLS: server.tls != nil).url
    }

    /// Checks everything. Blocks, because it loads the plugins.
    public init(_ subject: Subject) {
        self.subject = subject
        isRunning = DataDirectoryLock.isTaken(subject.dataDirectory)
        examineConfiguration()
        let functions = configuration.map { examinePlugins($0) } ?? []
        examineTools()
        if let configuration {
            examineRules(configuration)
            examineCertificate(configuration)
            examineAddress(configuration)
        }
        examineData()
        examineClock()
        examineLimits()
        if let configuration { examineMemory(configuration, functions) }
        examineKernel()
        examineTimeZones()
        if let configuration, subject.mode == .production { examineProduction(configuration, functions) }
    }

    // MARK: Findings

    mutating func ok(_ check: String, _ message: String) { findings.append(HostFinding(check, .ok, message)) }
    mutating func warn(_ check: String, _ message: String) { findings.append(HostFinding(check, .warning, message)) }
    mutating func fail(_ check: String, _ message: String) { findings.append(HostFinding(check, .error, message)) }

    /// Adds a finding of `ok` unless the check has others.
    mutating func settle(_ check: String, _ message: String) {
        if !findings.contains(where: { $0.check == check }) { ok(check, message) }
    }

    // MARK: Configuration

    private mutating func examineConfiguration() {
        let check = "configuration"
        let loaded: Configuration
        do throws(ConfigurationErrors) {
            loaded = try Configuration.load(file: subject.file, mode: subject.mode, isBeforeBuild: true)
        } catch {
            for problem in error.problems { fail(check, "\(problem)") }
            return
        }
        configuration = loaded
        for problem in loaded.warnings { warn(check, "\(problem)") }
        // The certificate has a check of its own.
        var rest = loaded
        rest.server.tls = nil
        do throws(HostStartError) {
            try StartCheck.require(rest)
        } catch {
            fail(check, "\(error)")
        }
        settle(check, "\(subject.file) is valid, for the project \(loaded.project)")
    }

    private mutating func examineAddress(_ configuration: Configuration) {
        let check = "port"
        let (host, number) = (subject.host ?? configuration.server.host, subject.port ?? configuration.server.port)
        do throws(LoopError) {
            close(try ListeningSocket.tcp(host: host, port: number).descriptor)
            port = .free
            ok(check, "\(HostAddress(host: host, port: number, isTLS: false)) is free")
        } catch {
            guard error.name == "EADDRINUSE" else { return fail(check, HearthHost.advice(error)) }
            port = .taken
            // With a host in the data directory, the caller asks whether it is the one that listens.
            if !isRunning { fail(check, HearthHost.advice(error)) }
        }
        var options = HostOptions(host: subject.host, port: subject.port, dataDirectory: subject.dataDirectory)
        options.developmentAccess = nil
        if let warning = options.warning(for: configuration) { warn(check, warning) }
    }
}
