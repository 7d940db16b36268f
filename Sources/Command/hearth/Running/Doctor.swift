import AdminProtocol
import ArgumentParser
import CommandClient
import Configuration
import Glibc
import HearthJSON
import Host

/// `hearth doctor`: checks everything that a host needs.
struct Doctor: LocalCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Checks machine, configuration, ports, certificates, clocks and limits, and says what to mend.",
        discussion: """
            One line a check: ok, warning or error, with a sentence that says what to do. Works with and without a running host, and changes
            nothing. Run it as the host's user. The exit status is 1 if there is an error.

            Examples:
              hearth doctor
              hearth doctor --mode production --config /etc/hearth/functions.json --data-dir /var/lib/hearth
              hearth doctor --json
            """)

    @Option(help: "The configuration file.")
    var config = "functions.json"

    @Option(help: "The address that the host listens on; overrides server.host.")
    var host: String?

    @Option(help: "The port that the host listens on; overrides server.port.")
    var port: Int?

    @Option(help: "The mode of the host; production checks more.")
    var mode = Configuration.Mode.development

    @OptionGroup var connection: ConnectionOptions

    var json: Bool { connection.json }

    func validate() throws {
        if let port, !(0...65535).contains(port) { throw ValidationError("--port must be a number from 0 to 65535") }
    }

    func perform() throws(ClientFailure) -> Outcome {
        let folder = connection.dataDirectory ?? ConnectionOptions.variable("HEARTH_DATA") ?? ".hearth"
        let examination = HostExamination(
            .init(file: config, mode: mode, dataDirectory: folder, host: host, port: port, program: Terminal.executable))
        let findings = examination.findings + RunningHostExamination(examination, connection, mode: mode, folder: folder).findings
        let errors = findings.count { $0.severity == .error }
        let warnings = findings.count { $0.severity == .warning }
        let checks = findings.map { finding -> JSONValue in
            .object(["check": .string(finding.check), "result": .string(finding.severity.rawValue), "message": .string(finding.message)])
        }
        let json: JSONObject = ["checks": .array(checks), "errors": .int(Int64(errors)), "warnings": .int(Int64(warnings))]
        return Outcome(text: Self.text(findings, errors, warnings), json: .object(json), isSuccess: errors == 0)
    }

    private static func text(_ findings: [HostFinding], _ errors: Int, _ warnings: Int) -> String {
        let width = findings.map(\.check.count).max() ?? 0
        var lines = findings.map { finding in
            let word = finding.severity.rawValue.padded(to: 7)
            let message = PrintableText.line(finding.message.split(separator: "\n").joined(separator: " "))
            return "\(painted(word, finding.severity))  \(finding.check.padded(to: width))  \(message)"
        }
        let counts = [(errors, "error"), (warnings, "warning")].filter { $0.0 > 0 }.map { $0.0 == 1 ? "1 \($0.1)" : "\($0.0) \($0.1)s" }
        lines += ["", counts.isEmpty ? "Everything is fine." : counts.joined(separator: ", ")]
        return lines.joined(separator: "\n")
    }

    private static func painted(_ word: String, _ severity: HostFinding.Severity) -> String {
        guard Terminal.hasColour else { return word }
        let colour =
            switch severity {
            case .ok: "32"
            case .warning: "33"
            case .error: "1;31"
            }
        return "\u{1B}[\(colour)m\(word)\u{1B}[0m"
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}

/// Asks a running host: whether it is the one of the data directory, whether it serves, and what its clock shows.
struct RunningHostExamination {
    private(set) var findings: [HostFinding] = []
    private let examination: HostExamination
    private let mode: Configuration.Mode
    private let folder: String

    /// The difference of clocks that causes a warning, and the one that causes an error: tokens of the one are refused by the other then.
    private static let (differenceSeconds, differenceSecondsMax) = (2, 60)

    init(_ examination: HostExamination, _ connection: ConnectionOptions, mode: Configuration.Mode, folder: String) {
        self.examination = examination
        self.mode = mode
        self.folder = folder
        let given = connection.url ?? ConnectionOptions.variable("HEARTH_URL")
        // The token is not sent to another program that happens to listen on the port.
        guard let url = given ?? (examination.isRunning ? examination.url : nil) else {
            findings.append(HostFinding("host", .ok, "none runs in \(folder)"))
            return
        }
        var options = connection
        options.url = url
        do throws(ClientFailure) {
            try ask(try options.client(), isGiven: given != nil)
        } catch {
            let advice = given == nil ? "; name its address with --url, or look into its log" : ""
            findings.append(HostFinding("host", .error, "\(error.message)\(advice)"))
        }
    }

    private mutating func ask(_ client: HostClient, isGiven: Bool) throws(ClientFailure) {
        let before = Glibc.time(nil)
        let health = try client.send(HostRequest("GET", "/_/health"))
        let after = Glibc.time(nil)
        guard health.status == 200, (try? JSONValue(parsing: health.body))?["status"]?.string == "ok" else { throw client.isNoHost }
        let ready = try client.send(HostRequest("GET", "/_/ready"))
        let description = try client.hostDescription()
        if examination.port == .taken, examination.isRunning, !isGiven || client.url.description == examination.url {
            findings.append(HostFinding("port", .ok, "\(client.url.authority) is held by the host of \(folder)"))
        }
        if ready.status == 200 {
            findings.append(HostFinding("host", .ok, "the host at \(client.url) answers and serves"))
        } else {
            findings.append(HostFinding("host", .warning, "the host at \(client.url) is starting or stopping; if that lasts, look into its log"))
        }
        compare(description)
        if let date = health.head.header("date").flatMap(Self.seconds) { compare(clock: date, before, after) }
    }

    private mutating func compare(_ description: HostDescription) {
        if let own = examination.configuration?.project, own != description.project {
            findings.append(
                HostFinding("host", .warning, "the host serves \(description.project), not \(own): run hearth upgrade, or name another --config"))
        }
        let isProduction = description.mode == .production
        if isProduction != (mode == .production) {
            let actual = isProduction ? "production" : "development"
            findings.append(HostFinding("host", .warning, "the host is in \(actual) mode: check it with --mode \(actual)"))
        }
    }

    private mutating func compare(clock date: Int, _ before: Int, _ after: Int) {
        let difference = date < before - 1 ? date - before : date > after + 1 ? date - after : 0
        guard abs(difference) > Self.differenceSeconds else {
            return findings.append(HostFinding("host's clock", .ok, "it agrees with this machine's"))
        }
        let text = "the host's clock is \(abs(difference)) seconds \(difference > 0 ? "ahead of" : "behind") this machine's: install chrony on both"
        findings.append(HostFinding("host's clock", abs(difference) > Self.differenceSecondsMax ? .error : .warning, text))
    }

    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// The seconds since 1970 of a date as in `Sat, 31 Jan 2026 12:00:00 GMT`.
    private static func seconds(_ date: String) -> Int? {
        let words = date.split { $0 == " " || $0 == ":" }
        guard words.count == 8, let month = months.firstIndex(of: String(words[2])), let day = Int32(words[1]), let year = Int32(words[3]),
            let hour = Int32(words[4]), let minute = Int32(words[5]), let second = Int32(words[6])
        else { return nil }
        var parts = tm()
        (parts.tm_year, parts.tm_mon, parts.tm_mday) = (year - 1900, Int32(month), day)
        (parts.tm_hour, parts.tm_min, parts.tm_sec) = (hour, minute, second)
        return timegm(&parts)
    }
}
