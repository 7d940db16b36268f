import ArgumentParser
import CommandClient
import HearthJSON

/// The result of a command, for people and programs.
struct Outcome {
    /// Lines for a person; empty for none.
    var text = ""
    /// The result for programs; nil if the command has written it itself.
    var json: JSONValue?
    /// Whether the command ends with status 0.
    var isSuccess = true
}

/// A command that sends requests to a running host.
///
/// Exit status: 0 for success, 1 for a failure, 64 for wrong arguments.
protocol HostCommand: ParsableCommand {
    var connection: ConnectionOptions { get }

    /// Runs the command.
    ///
    /// - Throws: `ClientFailure` with a sentence that names the remedy.
    func perform(_ client: HostClient) throws(ClientFailure) -> Outcome
}

extension HostCommand {
    func run() throws {
        try CommandReport.run(asJSON: connection.json) { () throws(ClientFailure) in try perform(try connection.client()) }
    }
}

/// A command that works without a host.
protocol LocalCommand: ParsableCommand {
    var json: Bool { get }

    /// Runs the command.
    ///
    /// - Throws: `ClientFailure` with a sentence that names the remedy.
    func perform() throws(ClientFailure) -> Outcome
}

extension LocalCommand {
    func run() throws {
        try CommandReport.run(asJSON: json) { () throws(ClientFailure) in try perform() }
    }
}

/// Reports the outcome of a command, as text or JSON.
enum CommandReport {
    /// Runs the work and reports its outcome.
    ///
    /// - Throws: `ExitCode.failure` if it failed.
    static func run(asJSON: Bool, _ work: () throws(ClientFailure) -> Outcome) throws {
        let outcome: Outcome
        do throws(ClientFailure) {
            outcome = try work()
        } catch {
            Terminal.endProgress()
            if asJSON {
                var report: JSONObject = ["status": "error", "error": .string(error.message)]
                if let details = error.details { report["details"] = details }
                Terminal.write(JSONValue.object(report).description)
            }
            Terminal.writeError("hearth: \(error.message)")
            throw ExitCode.failure
        }
        if asJSON {
            if let json = outcome.json { Terminal.write(JSONValue.object(["status": "success", "result": json]).description) }
        } else if !outcome.text.isEmpty {
            Terminal.write(outcome.text)
        }
        if !outcome.isSuccess { throw ExitCode.failure }
    }
}

extension ArgumentHelp {
    /// The help of `--json`.
    static let jsonOutput = ArgumentHelp(
        "Print one JSON object: {\"status\": \"success\", \"result\": ...} or {\"status\": \"error\", \"error\": ...}.")
}
