import CommandClient
import Glibc

/// Whether a program can be run, as a shell judges it.
enum ProgramSearch {
    /// Why `name` cannot be run, with the exit status that shells have for it; nil where it can be tried.
    static func problem(_ name: String) -> (sentence: String, status: Int32)? {
        if name.contains("/") {
            if access(name, F_OK) != 0 { return ("there is no file \(name) to run", 127) }
            return isProgram(name) ? nil : ("\(name) is not a program that can be run; see its permissions", 126)
        }
        let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
        let found = path.split(separator: ":", omittingEmptySubsequences: false).contains { isProgram("\($0.isEmpty ? "." : $0)/\(name)") }
        return found ? nil : ("the command \(name) is in no folder of PATH; see how it is written, or name its file", 127)
    }

    private static func isProgram(_ file: String) -> Bool {
        FileStatus(file)?.kind == .file && access(file, X_OK) == 0
    }
}
