import ArgumentParser
import CommandClient

/// Confirmation of destructive commands.
struct ForceOption: ParsableArguments {
    @Flag(name: .shortAndLong, help: "Do not ask first.")
    var force = false

    /// Asks for confirmation, unless `--force` was given.
    ///
    /// - Parameter canAsk: whether standard input is free for the answer.
    /// - Throws: `ClientFailure` if there is no terminal, or the answer is no.
    func confirm(_ consequence: String, canAsk: Bool = true) throws(ClientFailure) {
        if force { return }
        guard canAsk, Terminal.canAsk else {
            throw ClientFailure(.invalidInput, "this would \(consequence), and there is no terminal to ask on; use --force to do it anyway")
        }
        guard Terminal.confirms("This will \(consequence). Continue?") else {
            throw ClientFailure(.invalidInput, "nothing was changed")
        }
    }
}
