import Bytes
import HTTP
import JSON
import WorkerProtocol

/// Where a line of a function's log came from.
struct FunctionLogOrigin {
    var plugin: String
    var version: String
    var pid: Int32
    var function: String?
    var invocation: InvocationName?
    var trace: TraceID?
}

/// Writes what functions log and print: one readable line on a terminal, one JSON object a line elsewhere.
final class FunctionLog {
    private let output: LogOutput

    init(output: LogOutput) { self.output = output }

    /// Records one message; printed text is cut into its lines.
    func record(_ origin: FunctionLogOrigin, source: LogSource, level: UInt8, message: Span<UInt8>, fields: Span<UInt8>) {
        guard source != .logger else { return write(origin, level: level, message.string(), fields.string(), source) }
        for line in message.string().split(separator: "\n") { write(origin, level: level, String(line), "", source) }
    }

    /// Says that a worker logged more than it may.
    func recordDropped(_ origin: FunctionLogOrigin, bytes: Int, perSecond: Int) {
        output.countLimited(bytes: bytes)
        let text = "\(bytes) bytes of log were dropped: workers.logBytesPerSecond is \(perSecond)"
        write(origin, level: 4, text, "", .logger)
    }

    private func write(_ origin: FunctionLogOrigin, level: UInt8, _ message: String, _ fields: String, _ source: LogSource) {
        var entries: [(String, JSONValue)] = []
        if let function = origin.function { entries.append(("function", .string(function))) }
        entries.append(("plugin", .string(origin.plugin)))
        entries.append(("version", .string(origin.version)))
        if let invocation = origin.invocation { entries.append(("invocation", .string(invocation.description))) }
        if let trace = origin.trace { entries.append(("trace", .string(trace.description))) }
        entries.append(("pid", .int(Int64(origin.pid))))
        switch source {
        case .standardOutput: entries.append(("stream", "stdout"))
        case .standardError: entries.append(("stream", "stderr"))
        case .logger: break
        }
        if !fields.isEmpty, let object = (try? JSONValue(parsing: fields))?.object {
            entries.append(("fields", .object(object)))
        }
        output.write(severity: Severity(level), label: origin.function ?? origin.plugin, message: message, entries: entries)
    }
}

/// Severity of a log line, as swift-log and `hearth_log_level` count it.
enum Severity: String, Sendable {
    case trace, debug, info, notice, warning, error, critical

    init(_ level: UInt8) {
        let all: [Severity] = [.trace, .debug, .info, .notice, .warning, .error, .critical]
        self = all[min(Int(level), all.count - 1)]
    }
}
