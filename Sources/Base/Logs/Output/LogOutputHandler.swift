import HearthJSON
import HTTP
import Logging

/// Passes the host's own lines from swift-log to a ``LogOutput``.
struct LogOutputHandler: LogHandler {
    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]
    let label: String
    let output: LogOutput
    private let isForTerminals: Bool

    /// - Parameter isForTerminals: false for lines whose contents a person gets in another form.
    init(label: String, output: LogOutput, level: Logger.Level, isForTerminals: Bool = true) {
        self.label = label
        self.output = output
        self.isForTerminals = isForTerminals
        logLevel = level
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var merged = metadata.merging(event.metadata ?? [:]) { $1 }
        var line = LogLine(severity: Severity(rawValue: event.level.rawValue) ?? .info, label: label, message: "\(event.message)")
        // The origin has the same members as in lines of functions, so that one filter finds both.
        line.origin.function = merged.removeValue(forKey: "function").map { "\($0)" }
        line.origin.plugin = merged.removeValue(forKey: "plugin").map { "\($0)" }
        line.origin.invocation = merged.removeValue(forKey: "invocation").map { "\($0)" }
        line.origin.pid = merged.removeValue(forKey: "pid").flatMap { Int32("\($0)") }
        line.origin.version = merged.removeValue(forKey: "version").flatMap { Int("\($0)") }
        if let text = merged["trace"].map({ "\($0)" }), let trace = TraceID(text) {
            line.origin.trace = trace
            merged["trace"] = nil
        }
        line.entries = merged.sorted { $0.key < $1.key }.map { (Self.name($0.key), JSONValue.string("\($0.value)")) }
        line.isForTerminals = isForTerminals
        output.write(line)
    }

    /// Renames members whose name every line already uses, so that no member occurs twice.
    private static func name(_ key: String) -> String { taken.contains(key) ? "\(key)_" : key }

    private static let taken: Set = [
        "id", "time", "severity", "label", "function", "version", "artifact", "plugin", "invocation", "trace", "pid", "stream", "message",
        "fields", "dropped",
    ]
}

extension LogOutput {
    /// A logger of the host.
    ///
    /// - Parameter isForTerminals: false for lines whose contents a person gets in another form.
    package func logger(level: Logger.Level, isForTerminals: Bool = true) -> Logger {
        Logger(label: "hearth") { LogOutputHandler(label: $0, output: self, level: level, isForTerminals: isForTerminals) }
    }
}
