import HearthBytes
import HearthJSON
import Logs
import WorkerProtocol

/// Writes the log lines and printed lines of functions, and lines about their invocations.
package final class FunctionLog: Sendable {
    private let output: LogOutput
    /// Whether the start and the end of each invocation are logged.
    let tellsInvocations: Bool

    package init(output: LogOutput, tellsInvocations: Bool = false) {
        self.output = output
        self.tellsInvocations = tellsInvocations
    }

    /// Writes one message. Printed text is written line by line.
    func record(_ origin: LogOrigin, level: UInt8, message: Span<UInt8>, fields: Span<UInt8>) {
        guard origin.stream != nil else { return write(origin, Severity(level), message.string(), fields) }
        for line in message.string().split(separator: "\n") { write(origin, Severity(level), String(line), fields.extracting(0..<0)) }
    }

    /// Logs that lines of a worker were dropped because of its limit.
    func recordDropped(_ origin: LogOrigin, bytes: Int, perSecond: Int) {
        output.countLimited(bytes: bytes)
        var origin = origin
        origin.stream = nil
        let text = "\(bytes) bytes of log were dropped: workers.logBytesPerSecond is \(perSecond)"
        output.write(LogLine(severity: .warning, label: Self.label(origin), message: text, origin: origin))
    }

    /// Logs the cause of a crash with its stack, innermost call first.
    func recordCrash(_ origin: LogOrigin, _ words: String, calls: [String]) {
        var line = LogLine(severity: .error, label: Self.label(origin), message: words, origin: origin)
        if !calls.isEmpty { line.entries = [(LogLine.callsName, .array(calls.map { .string($0) }))] }
        output.write(line)
    }

    /// Logs that an instance has started an invocation.
    func recordBeginning(_ origin: LogOrigin) {
        let label = Self.label(origin)
        output.write(LogLine(severity: .info, label: label, message: "Beginning execution of \"\(label)\"", origin: origin))
    }

    /// Logs that a function has answered, or that its answer is no longer awaited.
    func recordEnd(_ origin: LogOrigin, nanoseconds: UInt64, isAnswered: Bool) {
        let label = Self.label(origin)
        let tenths = (nanoseconds + 50_000) / 100_000
        let milliseconds = tenths < 100 ? "\(tenths / 10).\(tenths % 10)" : "\(tenths / 10)"
        let message = isAnswered ? "Finished \"\(label)\" in \(milliseconds)ms" : "Gave up \"\(label)\" after \(milliseconds)ms"
        output.write(LogLine(severity: .info, label: label, message: message, origin: origin))
    }

    private func write(_ origin: LogOrigin, _ severity: Severity, _ message: String, _ fields: Span<UInt8>) {
        var line = LogLine(severity: severity, label: Self.label(origin), message: message, origin: origin)
        if fields.count > 0, let object = (try? JSONValue(parsing: fields))?.object { line.entries = [("fields", .object(object))] }
        output.write(line)
    }

    private static func label(_ origin: LogOrigin) -> String { origin.function ?? origin.plugin ?? "function" }
}
