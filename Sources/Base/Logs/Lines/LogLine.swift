import HearthBytes
import HearthJSON
import HTTP

/// One line of the log.
package struct LogLine {
    var severity: Severity
    /// The subject: a function, a plugin, or `hearth`.
    var label: String
    var message: String
    var origin = LogOrigin()
    /// Further members, in order; those that a function added are in `fields`.
    package var entries: [(String, JSONValue)] = []
    /// Whether a terminal shows the line. False for lines whose contents a person gets in another form.
    var isForTerminals = true

    package init(
        severity: Severity, label: String, message: String, origin: LogOrigin = LogOrigin(), entries: [(String, JSONValue)] = [],
        isForTerminals: Bool = true
    ) {
        self.severity = severity
        self.label = label
        self.message = message
        self.origin = origin
        self.entries = entries
        self.isForTerminals = isForTerminals
    }

    /// The member with the stack frames of a crash, as texts. For people, each is a line of its own.
    package static let callsName = "calls"
}

/// The origin of a line; nil where a member does not apply.
package struct LogOrigin {
    package var function: String?
    /// The function's version.
    package var version: Int?
    /// The first digits of the library's hash.
    var artifact: String?
    package var plugin: String?
    /// The invocation's name: 12 letters and digits.
    package var invocation: String?
    package var trace: TraceID?
    /// The id of the process.
    var pid: Int32?
    /// The stream it was printed to; nil for a line of a logger.
    package var stream: PrintedStream?

    package init(
        function: String? = nil, version: Int? = nil, artifact: String? = nil, plugin: String? = nil, invocation: String? = nil,
        trace: TraceID? = nil, pid: Int32? = nil, stream: PrintedStream? = nil
    ) {
        self.function = function
        self.version = version
        self.artifact = artifact
        self.plugin = plugin
        self.invocation = invocation
        self.trace = trace
        self.pid = pid
        self.stream = stream
    }
}

/// A standard output stream.
package enum PrintedStream: String, Sendable {
    case output = "stdout"
    case error = "stderr"
}

/// The severity of a log line, with the numbers of swift-log and `hearth_log_level`.
package enum Severity: String, Sendable, Comparable, CaseIterable {
    case trace, debug, info, notice, warning, error, critical

    package init(_ level: UInt8) { self = Self.allCases[min(Int(level), Self.allCases.count - 1)] }

    package static func < (left: Severity, right: Severity) -> Bool { left.rank < right.rank }

    private var rank: Int {
        switch self {
        case .trace: 0
        case .debug: 1
        case .info: 2
        case .notice: 3
        case .warning: 4
        case .error: 5
        case .critical: 6
        }
    }

    /// The letter for people, such as `E`.
    var letter: String { rawValue.prefix(1).uppercased() }
}

extension LogLine {
    /// Appends the line as a JSON object without its opening brace: time, severity, label, origin, message, further members.
    ///
    /// ``LogFilter`` relies on this order: no text that a function can choose freely precedes `message`.
    package func appendMembers(time: WallClock, to buffer: inout ByteBuffer) {
        buffer.append("\"time\":\"")
        buffer.append(time.rfc3339)
        buffer.append("\",\"severity\":\"")
        buffer.append(severity.rawValue)
        buffer.append("\",\"label\":")
        buffer.append(jsonString: label)
        appendOrigin(to: &buffer)
        buffer.append(",\"message\":")
        buffer.append(jsonString: message)
        for (name, value) in entries {
            buffer.append(",")
            buffer.append(jsonString: name)
            buffer.append(":")
            value.write(to: &buffer)
        }
        buffer.append("}\n")
    }

    private func appendOrigin(to buffer: inout ByteBuffer) {
        Self.append(",\"function\":", origin.function, to: &buffer)
        if let version = origin.version {
            buffer.append(",\"version\":")
            buffer.append(decimal: version)
        }
        Self.append(",\"artifact\":", origin.artifact, to: &buffer)
        Self.append(",\"plugin\":", origin.plugin, to: &buffer)
        Self.append(",\"invocation\":", origin.invocation, to: &buffer)
        if let trace = origin.trace {
            buffer.append(",\"trace\":\"")
            trace.append(to: &buffer)
            buffer.append("\"")
        }
        if let pid = origin.pid {
            buffer.append(",\"pid\":")
            buffer.append(decimal: Int(pid))
        }
        Self.append(",\"stream\":", origin.stream?.rawValue, to: &buffer)
    }

    private static func append(_ name: StaticString, _ text: String?, to buffer: inout ByteBuffer) {
        guard let text else { return }
        buffer.append(name)
        buffer.append(jsonString: text)
    }
}
