import Glibc
import HearthJSON

/// Prints lines of the log: `2026-01-31T12:00:00.000Z I addMessage: adding a message  uid=u1`, or the JSON that they are.
struct LogPrinter {
    let isJSON: Bool
    private let hasColour = Terminal.hasColour

    init(isJSON: Bool) { self.isJSON = isJSON }

    func write(_ line: Span<UInt8>, _ value: JSONValue) {
        guard !isJSON else { return put(line.withUnsafeBufferPointer { Array($0) } + [UInt8(ascii: "\n")]) }
        put(Array((text(value) + "\n").utf8))
    }

    private func text(_ line: JSONValue) -> String {
        let severity = line["severity"]?.string ?? "info"
        let letter = styled(Self.colour(severity), severity.prefix(1).uppercased())
        let name = PrintableText.lines(line["label"]?.string ?? "hearth")
        let message = PrintableText.lines(line["message"]?.string ?? "")
        let more = styled("2", Self.more(line).map { "  \($0)=\($1)" }.joined())
        let calls = (line["calls"]?.array ?? []).map { "\n    at \(PrintableText.lines($0.string ?? ""))" }.joined()
        return "\(styled("2", line["time"]?.string ?? "")) \(letter) \(name): \(message)\(more)\(calls)"
    }

    /// What a line says beside what each line says.
    private static func more(_ line: JSONValue) -> [(String, String)] {
        let own = line["fields"]?.object.map { Array($0) } ?? []
        let others = line.object.map { Array($0) } ?? []
        // A line of the host names the function and the plugin that it is about; a function's own line has its name in front.
        let label = line["label"]
        let subject = ["function", "plugin"].compactMap { name in
            line[name].flatMap { $0 == label || line["function"] == label ? nil : (key: name, value: $0) }
        }
        return (subject + own + others.filter { !usual.contains($0.key) }).map { name, value in
            (PrintableText.lines(name), PrintableText.lines(value.string ?? value.description))
        }
    }

    private static let usual: Set = [
        "id", "time", "severity", "label", "function", "version", "artifact", "plugin", "invocation", "trace", "pid", "stream", "message",
        "fields", "calls",
    ]

    private func styled(_ codes: String, _ text: String) -> String {
        hasColour && !codes.isEmpty && !text.isEmpty ? "\u{1B}[\(codes)m\(text)\u{1B}[0m" : text
    }

    private static func colour(_ severity: String) -> String {
        switch severity {
        case "trace", "debug": "2"
        case "notice": "36"
        case "warning": "33"
        case "error", "critical": "31"
        default: ""
        }
    }

    private func put(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            // Nobody reads any more, as behind `| head`.
            if count < 0, errno != EINTR { _exit(0) }
            rest = rest.dropFirst(max(0, count))
        }
    }
}
