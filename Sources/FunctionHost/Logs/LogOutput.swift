import Bytes
import Glibc
import JSON
import Synchronization

/// Puts log lines on standard error, whole.
final class LogOutput: Sendable {
    /// How a line looks.
    enum Style: Sendable {
        /// For people: time, severity, what it is about, the message, then `name=value`.
        case text
        /// For programs: one JSON object.
        case json
    }

    private let style: Style
    private let descriptor: Int32
    private let buffer = Mutex(ByteBuffer())

    /// - Parameter style: nil takes text on a terminal and JSON elsewhere.
    init(descriptor: Int32 = STDERR_FILENO, style: Style? = nil) {
        self.descriptor = descriptor
        self.style = style ?? (isatty(descriptor) == 1 ? .text : .json)
    }

    /// Writes one line.
    func write(severity: Severity, label: String, message: String, entries: [(String, JSONValue)]) {
        buffer.withLock { buffer in
            switch style {
            case .json: Self.appendJSON(severity, label, message, entries, to: &buffer)
            case .text: Self.appendText(severity, label, message, entries, to: &buffer)
            }
            buffer.append(UInt8(ascii: "\n"))
            while !buffer.isEmpty {
                let count = buffer.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
                if count > 0 { buffer.consume(count) } else if errno != EINTR { break }
            }
            buffer.clear(keepingAtMost: 16 * 1024)
        }
    }

    private static func appendJSON(
        _ severity: Severity, _ label: String, _ message: String, _ entries: [(String, JSONValue)], to buffer: inout ByteBuffer
    ) {
        var line = JSONObject([
            ("time", .string(WallClock.now().rfc3339)), ("severity", .string(severity.rawValue)), ("label", .string(label)),
            ("message", .string(message)),
        ])
        for (name, value) in entries { line[name] = value }
        JSONValue.object(line).write(to: &buffer)
    }

    private static func appendText(
        _ severity: Severity, _ label: String, _ message: String, _ entries: [(String, JSONValue)], to buffer: inout ByteBuffer
    ) {
        buffer.append("\(WallClock.now().timeOfDay) \(severity.rawValue.prefix(1).uppercased()) \(label): \(printable(message))")
        for (name, value) in entries where !["function", "plugin"].contains(name) {
            buffer.append(" \(name)=\(value.string.map(printable) ?? value.description)")
        }
    }

    /// Without control characters, which could rewrite what a terminal shows.
    private static func printable(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { $0.value < 32 || $0.value == 127 ? "\u{FFFD}" : $0 }))
    }
}
