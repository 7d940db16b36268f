import Glibc

/// What the command line writes, and what it knows of itself.
enum Terminal {
    /// Writes text and a newline to standard output.
    static func write(_ text: String) { writeAll(text + "\n", to: STDOUT_FILENO) }

    /// Writes text and a newline to standard error.
    static func writeError(_ text: String) { writeAll(text + "\n", to: STDERR_FILENO) }

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
