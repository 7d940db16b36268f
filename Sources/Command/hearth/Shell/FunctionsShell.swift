import ArgumentParser
import CommandClient
import Glibc

/// `hearth functions:shell`: a prompt for calling functions.
struct FunctionsShell: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "functions:shell", abstract: "Opens a prompt to call functions by hand, with history and completion.",
        discussion: """
            At the prompt, data is relaxed JSON:
              addNumbers({firstNumber: 1, secondNumber: 2})
              addNumbers {"firstNumber": 1, "secondNumber": 2}
              addMessage({text: 'hi'}, {auth: {uid: 'ada'}})
              status.get('/today', {headers: {accept: 'text/html'}})
              makeUppercase('hello', {params: {pushId: 'm1'}})
              onUserWritten({before: null, after: {name: 'Ada'}})
            A group's functions are group.name. help shows all functions, exit or Control-D ends it. Statements are also read from \
            a pipe, a line each; then the exit status is 1 where one failed.

            Examples:
              hearth functions:shell
              echo 'addNumbers({firstNumber: 1, secondNumber: 2})' | hearth functions:shell
              hearth functions:shell --as ada --no-history
            """)

    @Flag(inversion: .prefixedNo, help: "Keep the history, in the file shell-history of the user's state folder.")
    var history = true

    @OptionGroup var who: CallerOptions
    @OptionGroup var connection: ConnectionOptions

    func run() throws {
        var isSuccess = true
        do throws(ClientFailure) {
            let caller = FunctionCaller(try connection.client())
            let session = ShellSession(
                caller: caller, who: try who.caller(caller), uid: who.uid, functions: try caller.functions(), isJSON: connection.json)
            isSuccess = isatty(STDIN_FILENO) == 1 ? converse(session) : obey(session)
        } catch {
            Terminal.writeError("hearth: \(error.message)")
            throw ExitCode.failure
        }
        if !isSuccess { throw ExitCode.failure }
    }

    /// Interactive, at a terminal.
    private func converse(_ session: ShellSession) -> Bool {
        let history = ShellHistory(file: history ? ShellHistory.standardFile : nil)
        var editor = LineEditor(history: history) { session.names(beginning: $0) }
        Terminal.write("Connected to \(session.caller.administrator.url). help lists the statements, exit ends the prompt.")
        var statement = ""
        while true {
            switch editor.read(prompt: statement.isEmpty ? "hearth > " : "    ... > ") {
            case .ended: return true
            case .cancelled: statement = ""
            case .text(let line):
                statement += statement.isEmpty ? line : "\n\(line)"
                if ShellStatement.isOpen(statement) { continue }
                history.add(statement)
                if session.perform(statement) == .exit { return true }
                statement = ""
            }
        }
    }

    /// From a pipe or a file.
    private func obey(_ session: ShellSession) -> Bool {
        var isSuccess = true
        // Line by line: a missing bracket must not swallow the following statements.
        while let line = readLine() {
            let outcome = session.perform(line)
            if outcome == .exit { return isSuccess }
            if outcome == .failed { isSuccess = false }
        }
        return isSuccess
    }
}
