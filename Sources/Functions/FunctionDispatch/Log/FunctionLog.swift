import HearthBytes
import HearthJSON
import Logs
import WorkerProtocol

/// Writes what functions log and print, and what becomes of their invocations.
package final class FunctionLog {
    private let output: LogOutput
    /// Whether each invocation's beginning and end are told.
    let tellsInvocations: Bool

    package init(output: LogOutput, tellsInvocations: Bool = false) {
        self.output = output
        self.tellsInvocations = tellsInvocations
    }

    /// Records one message; printed text is cut into its lines.
    func record(_ origin: LogOrigin, level: UInt8, message: Span<UInt8>, fields: Span<UInt8>) {
        guard origin.stream != nil else { return write(origin, Severity(level), message.string(), fields) }
        for line in message.string().split(separator: "\n") { write(origin, Severity(level), String(line), fields.extracting(0..<0)) }
    }

    /// Says that a worker logged more than it may.
    func recordDropped(_ origin: LogOrigin, bytes: Int, perSecond: Int) {
        output.countLimited(bytes: bytes)
        var origin = origin
        origin.stream = nil
        let text = "\(bytes) bytes of log were dropped: workers.logBytesPerSecond is \(perSecond)"
        output.write(LogLine(severity: .warning, label: Self.label(origin), message: text, origin: origin))
    }

    /// Says what ended a worker, and which calls led there, the innermost first.
    func recordCrash(_ origin: LogOrigin, _ words: String, calls: [String]) {
        var line = LogLine(severity: .error, label: Self.label(origin), message: words, origin: origin)
        if !calls.isEmpty { line.entries = [(LogLine.callsName, .array(calls.map { .string($0) }))] }
        output.write(line)
    }

    /// An instance has begun with an invocation.
    func recordBeginning(_ origin: LogOrigin) {
        let label = Self.label(origin)
        output.write(LogLine(severity: .info, label: label, message: "Beginning execution of \"\(label)\"", origin: origin))
    }

    /// A function has answered, or nobody waits for its answer any more.
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
