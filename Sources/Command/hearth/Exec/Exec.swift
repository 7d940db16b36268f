import ArgumentParser
import Configuration
import Glibc
import CommandClient

/// `hearth exec`: runs a host for the duration of another command, such as a test suite.
struct Exec: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "exec", abstract: "Starts a host on a free port, runs a command against it, and ends it again.",
        discussion: """
            The command finds the host in FIREBASE_DATABASE_EMULATOR_HOST, FIREBASE_AUTH_EMULATOR_HOST, FUNCTIONS_EMULATOR_HOST, \
            CLOUD_TASKS_EMULATOR_HOST, HEARTH_URL, HEARTH_TOKEN, GCLOUD_PROJECT and GOOGLE_CLOUD_PROJECT. Its exit status becomes that \
            of exec: 128 and the \
            signal's number after a signal, 127 if there is no such command.

            The host's data is in a new folder that is removed afterwards, unless --data-dir names one. Processes that the command \
            leaves behind are ended.

            Examples:
              hearth exec -- npm test
              hearth exec --import Tests/data.json -- swift test
              hearth exec --log host.log -- sh -c 'curl -s "$HEARTH_URL/_/health"'
            """)

    @Option(help: "The configuration file.")
    var config = "functions.json"

    @Option(
        name: .customLong("data-dir"),
        help: ArgumentHelp("A data directory to use and keep. (default: a new one that is removed afterwards)", valueName: "dir"))
    var dataDirectory: String?

    /// The name of `--data-dir` in earlier versions.
    @Option(help: .hidden)
    var data: String?

    @Option(name: .customLong("import"), help: ArgumentHelp("JSON to write to the database before the command runs.", valueName: "file"))
    var importFile: String?

    @Option(help: ArgumentHelp("The file for the host's log; - for standard error. (default: shown only if the host fails)", valueName: "file"))
    var log: String?

    @Option(help: "development accepts \"owner\" and unsigned emulator tokens from this machine; production does not.")
    var mode = Configuration.Mode.development

    @Argument(parsing: .postTerminator, help: ArgumentHelp("The command to run, after --.", valueName: "command"))
    var command: [String] = []

    @Option(help: .hidden)
    var lifeline: Int32?

    @Option(help: .hidden)
    var folder: String?

    /// The data directory to keep; nil for a temporary one.
    var keptData: String? { dataDirectory ?? data }

    func validate() throws {
        if command.isEmpty { throw ValidationError("give the command to run after two dashes, as in: hearth exec -- npm test") }
    }

    func run() throws {
        if let lifeline, let folder {
            throw ExitCode(ExecKeeper(options: self, lifeline: lifeline, folder: ScratchFolder(existing: folder)).run())
        }
        if let missing = ProgramSearch.problem(command[0]) {
            Terminal.writeError("hearth: \(missing.sentence)")
            throw ExitCode(missing.status)
        }
        throw ExitCode(ExecCaller().run())
    }
}

/// Checks whether a program can be run, as a shell does.
enum ProgramSearch {
    /// The reason why `name` cannot be run, with the exit status of shells for it; nil if it can be tried.
    static func problem(_ name: String) -> (sentence: String, status: Int32)? {
        if name.contains("/") {
            if access(name, F_OK) != 0 { return ("there is no file \(name) to run", 127) }
            return isProgram(name) ? nil : ("\(name) is not a program that can be run; see its permissions", 126)
        }
        let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
        let found = path.split(separator: ":", omittingEmptySubsequences: false).contains { isProgram("\($0.isEmpty ? "." : $0)/\(name)") }
        return found ? nil : ("the command \(name) is in no folder of PATH; check its spelling, or name its file", 127)
    }

    private static func isProgram(_ file: String) -> Bool {
        FileStatus(file)?.kind == .file && access(file, X_OK) == 0
    }
}
