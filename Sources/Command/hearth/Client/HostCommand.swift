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
