import Glibc

/// Output of the command line, and properties of the terminal.
enum Terminal {
    /// Writes text and a newline to standard output.
    static func write(_ text: String) { writeAll(text + "\n", to: STDOUT_FILENO) }

    /// Writes text to standard output verbatim.
    static func put(_ text: String) { writeAll(text, to: STDOUT_FILENO) }

    /// Writes text and a newline to standard error.
    static func writeError(_ text: String) { writeAll(text + "\n", to: STDERR_FILENO) }

    /// Writes the output of another program to standard error verbatim.
    static func writeText(_ text: String) { writeAll(text.hasSuffix("\n") ? text : text + "\n", to: STDERR_FILENO) }

    /// Whether questions can be asked: input and error output are terminals.
    static var canAsk: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 }

    /// Whether to show progress lines on standard error.
    static var showsProgress: Bool { isatty(STDERR_FILENO) == 1 && !isDumb }

    /// Whether standard output supports colours.
    static var hasColour: Bool { isatty(STDOUT_FILENO) == 1 && !isDumb && getenv("NO_COLOR") == nil }

    private static var isDumb: Bool { getenv("TERM").map { String(cString: $0) == "dumb" } ?? true }

    /// The width of the terminal of standard error.
    static var columns: Int {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// Replaces the line of progress.
    static func showProgress(_ line: String) { writeAll("\r\u{1B}[K" + line, to: STDERR_FILENO) }

    /// Removes the line of progress, so that following text starts at the beginning of a line.
    static func endProgress() {
        if showsProgress { writeAll("\r\u{1B}[K", to: STDERR_FILENO) }
    }

    /// Asks a yes-or-no question.
    static func confirms(_ question: String) -> Bool {
        writeAll("\(question) [y/N] ", to: STDERR_FILENO)
        let answer = readLine()?.lowercased() ?? ""
        return answer == "y" || answer == "yes"
    }

    /// Shows a question whose answer is typed on the same line.
    static func ask(_ question: String) { writeAll(question, to: STDERR_FILENO) }

    /// The path of this program.
    static var executable: String {
        var room = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = room.withUnsafeMutableBytes { room in
            room.withMemoryRebound(to: CChar.self) { $0.baseAddress.map { readlink("/proc/self/exe", $0, room.count) } ?? -1 }
        }
        return count > 0 ? String(decoding: room[..<count], as: UTF8.self) : CommandLine.arguments[0]
    }

    private static func writeAll(_ text: String, to descriptor: Int32) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 || errno == EINTR else { return }
            bytes = bytes.dropFirst(max(0, count))
        }
    }
}
