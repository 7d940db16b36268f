import ArgumentParser
import CommandClient
import HearthJSON

/// What a command has done, for people and for machines.
struct Outcome {
    /// Lines for a person; empty for none.
    var text = ""
    /// The same for a program; nil where the command has written its result itself.
    var json: JSONValue?
    /// Whether the command ends with status 0.
    var isSuccess = true
}

/// A command that asks a running host for something.
///
/// Exit status: 0 done, 1 the thing asked for failed, 64 wrong arguments.
protocol HostCommand: ParsableCommand {
    var connection: ConnectionOptions { get }

    /// Does it.
    ///
    /// - Throws: `ClientFailure` with a sentence that says what to do.
    func perform(_ client: HostClient) throws(ClientFailure) -> Outcome
}

extension HostCommand {
    func run() throws {
        try CommandReport.run(asJSON: connection.json) { () throws(ClientFailure) in try perform(try connection.client()) }
    }
}

/// A command that does its work on this machine, without a host.
protocol LocalCommand: ParsableCommand {
    var json: Bool { get }

    /// Does it.
    ///
    /// - Throws: `ClientFailure` with a sentence that says what to do.
    func perform() throws(ClientFailure) -> Outcome
}

extension LocalCommand {
    func run() throws {
        try CommandReport.run(asJSON: json) { () throws(ClientFailure) in try perform() }
    }
}

/// How a command ends, in words or as JSON.
enum CommandReport {
    /// Does the work and reports on it.
    ///
    /// - Throws: `ExitCode.failure` where it was not done.
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
    /// What `--json` is, in every command.
    static let jsonOutput = ArgumentHelp(
        "Print one JSON object: {\"status\": \"success\", \"result\": ...} or {\"status\": \"error\", \"error\": ...}.")
}
