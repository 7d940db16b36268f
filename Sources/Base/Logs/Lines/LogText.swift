import HearthBytes
import HearthJSON
import HTTP

/// Writes lines for people: time, a letter for the severity, function or plugin, message, and in a dimmer colour all other members.
struct LogText {
    let hasColour: Bool
    /// The column width of names: that of the widest name so far, within a limit, so that messages are aligned.
    private var labelWidth = 6
    private static let labelWidthMax = 20

    init(hasColour: Bool) { self.hasColour = hasColour }

    mutating func append(_ line: LogLine, time: WallClock, to buffer: inout ByteBuffer) {
        let label = Self.printable(line.label)
        labelWidth = max(labelWidth, min(label.count, Self.labelWidthMax))
        buffer.append(styled("2", time.timeOfDay) + " ")
        buffer.append(styled(Self.colour(line.severity), "\(line.severity.letter) \(label):"))
        buffer.append(String(repeating: " ", count: max(0, labelWidth - label.count) + 1))
        buffer.append(Self.printable(line.message))
        for (name, value) in Self.subject(line) + line.entries where name != LogLine.callsName {
            buffer.append(styled("2", Self.text(name, value)))
        }
        buffer.append(styled("2", Self.whose(line.origin)))
        buffer.append("\n")
        let calls = line.entries.first { $0.0 == LogLine.callsName }?.1.array ?? []
        for call in calls { buffer.append("    at \(Self.printable(call.string ?? ""))\n") }
    }

    /// The function and the plugin of a line of the host; a function's own line begins with its name instead.
    private static func subject(_ line: LogLine) -> [(String, JSONValue)] {
        [("function", line.origin.function), ("plugin", line.origin.plugin)].compactMap { name, value in
            guard let value, value != line.label, line.label != line.origin.function else { return nil }
            return (name, .string(value))
        }
    }

    /// The members as ` uid=u1`; those of a function's `fields` are shown one by one.
    private static func text(_ name: String, _ value: JSONValue) -> String {
        if name == "fields", let fields = value.object { return fields.map { text($0.key, $0.value) }.joined() }
        return " \(printable(name))=\(printable(value.string ?? value.description))"
    }

    /// The version, invocation and trace: ` [v3 k2j4h5g6f7d8 0af7651916cd43dd8448eb211c80319c]`.
    private static func whose(_ origin: LogOrigin) -> String {
        let words = [origin.version.map { "v\($0)" }, origin.invocation, origin.trace?.description].compactMap { $0 }
        return words.isEmpty ? "" : " [\(words.joined(separator: " "))]"
    }

    private func styled(_ codes: String, _ text: String) -> String {
        hasColour && !codes.isEmpty && !text.isEmpty ? "\u{1B}[\(codes)m\(text)\u{1B}[0m" : text
    }

    private static func colour(_ severity: Severity) -> String {
        switch severity {
        case .trace, .debug: "2"
        case .info: ""
        case .notice: "36"
        case .warning: "33"
        case .error: "31"
        case .critical: "1;31"
        }
    }

    /// The text without control characters, which could change earlier output of a terminal.
    private static func printable(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isControl) else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.map { isControl($0) ? "\u{FFFD}" : $0 }))
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 32 || (127..<160).contains(scalar.value)
            || (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
    }
}
