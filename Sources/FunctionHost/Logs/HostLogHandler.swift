import JSON
import Logging

/// Sends the host's own swift-log lines to a ``LogOutput``.
struct HostLogHandler: LogHandler {
    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]
    let label: String
    let output: LogOutput

    init(label: String, output: LogOutput, level: Logger.Level) {
        self.label = label
        self.output = output
        logLevel = level
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let merged = metadata.merging(event.metadata ?? [:]) { $1 }
        let entries = merged.sorted { $0.key < $1.key }.map { ($0.key, JSONValue.string("\($0.value)")) }
        output.write(
            severity: Severity(rawValue: event.level.rawValue) ?? .info, label: label, message: "\(event.message)", entries: entries)
    }
}
