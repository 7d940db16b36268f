import Glibc

/// What the command line writes, and what it knows of itself.
enum Terminal {
    /// Writes text and a newline to standard output.
    static func write(_ text: String) { writeAll(text + "\n", to: STDOUT_FILENO) }

    /// Writes text to standard output as it is.
    static func put(_ text: String) { writeAll(text, to: STDOUT_FILENO) }

    /// Writes text and a newline to standard error.
    static func writeError(_ text: String) { writeAll(text + "\n", to: STDERR_FILENO) }

    /// Writes what another program wrote to standard error, as it is.
    static func writeText(_ text: String) { writeAll(text.hasSuffix("\n") ? text : text + "\n", to: STDERR_FILENO) }

    /// Whether a person can answer questions: both what is asked and what is answered are on a terminal.
    static var canAsk: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 }

    /// Whether what is written to standard error moves under somebody's eyes.
    static var showsProgress: Bool { isatty(STDERR_FILENO) == 1 && !isDumb }

    /// Whether standard output takes colours.
    static var hasColour: Bool { isatty(STDOUT_FILENO) == 1 && !isDumb && getenv("NO_COLOR") == nil }

    private static var isDumb: Bool { getenv("TERM").map { String(cString: $0) == "dumb" } ?? true }

    /// How many characters fit on a line of standard error.
    static var columns: Int {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// Replaces the line of progress.
    static func showProgress(_ line: String) { writeAll("\r\u{1B}[K" + line, to: STDERR_FILENO) }

    /// Takes the line of progress away, so that what follows stands at the beginning of a line.
    static func endProgress() {
        if showsProgress { writeAll("\r\u{1B}[K", to: STDERR_FILENO) }
    }

    /// Asks a question that is answered with yes or no.
    static func confirms(_ question: String) -> Bool {
        writeAll("\(question) [y/N] ", to: STDERR_FILENO)
        let answer = readLine()?.lowercased() ?? ""
        return answer == "y" || answer == "yes"
    }

    /// The file of this program.
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
