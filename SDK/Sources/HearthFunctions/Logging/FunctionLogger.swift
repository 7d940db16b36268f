internal import CHearth
internal import HearthBytes

/// The log of the running function. Its lines reach the host with the name of the function and the id of the call.
///
///     logger.info("added a message", metadata: ["uid": "\(user.uid)", "length": 12])
public let logger = FunctionLogger()

/// Writes lines to the function's log.
public struct FunctionLogger: Sendable {
    /// Severity of a line, rising.
    public enum Level: String, Sendable, CaseIterable {
        /// Every step.
        case trace
        /// For the author of the function.
        case debug
        /// The normal course of things.
        case info
        /// Normal, but worth to be noticed.
        case notice
        /// Not an error, but likely to need attention.
        case warning
        /// Something has failed.
        case error
        /// The whole plugin is in danger.
        case critical
    }

    /// Less severe lines are dropped. From the variable `LOG_LEVEL`, else `debug`.
    public var logLevel = levelOfEnvironment
    /// Fields of every line of this logger.
    public var metadata: JSONObject = [:]

    static let levelOfEnvironment = environment("LOG_LEVEL").flatMap(Level.init(rawValue:)) ?? .debug

    init() {}

    /// The field `name` of every line of this logger.
    public subscript(metadataKey name: String) -> JSONValue? {
        get { metadata[name] }
        set { metadata[name] = newValue }
    }

    /// Writes a line. Neither text nor fields are computed where the line is dropped.
    ///
    /// - Parameters:
    ///   - level: the severity.
    ///   - message: the text.
    ///   - metadata: fields of this line. A field of the logger with the same name gives way.
    public func log(_ level: Level, _ message: @autoclosure () -> String, metadata: @autoclosure () -> JSONObject = [:]) {
        guard level.rank >= logLevel.rank else { return }
        var fields = self.metadata
        for (name, value) in metadata() { fields[name] = value }
        Self.write(level.ofHost, message(), fields)
    }

    /// Sends a line to the host, under the invocation that the calling thread works for.
    static func write(_ level: hearth_log_level, _ message: String, _ fields: JSONObject) {
        guard let attachment = Attachment.current else { return }
        var message = message
        var text = ByteBuffer()
        if !fields.isEmpty { JSONValue.object(fields).write(to: &text) }
        message.withUTF8 { message in
            text.withUnsafeBytes { attachment.host.log(attachment.attributed, level, UnsafeRawBufferPointer(message), fields: $0) }
        }
    }

    /// Writes a line of level `trace`.
    public func trace(_ message: @autoclosure () -> String, metadata: @autoclosure () -> JSONObject = [:]) {
        log(.trace, message(), metadata: metadata())
    }

    /// Writes a line of level `debug`.
    public func debug(_ message: @autoclosure () -> String, metadata: @autoclosure () -> JSONObject = [:]) {
        log(.debug, message(), metadata: metadata())
    }

    /// Writes a line of level `info`.
    public func info(_ message: @autoclosure () -> String, metadata: @autoclosure () -> JSONObject = [:]) {
        log(.info, message(), metadata: metadata())
    }

    /// Writes a line of level `notice`.
    public func notice(_ message: @autoclosure () -> String, metadata: @autoclosure () -> JSONObject = [:]) {
        log(.notice, message(), metadata: metadata())
    }

    /// Writes a line of level `warning`.
    public func warning(_ message: @autoclosure () -> String, metadata: @autoclosure () -> JSONObject = [:]) {
        log(.warning, message(), metadata: metadata())
    }

    /// Writes a line of level `error`.
    public func error(_ message: @autoclosure () -> String, metadata: @autoclosure () -> JSONObject = [:]) {
        log(.error, message(), metadata: metadata())
    }

    /// Writes a line of level `critical`.
    public func critical(_ message: @autoclosure () -> String, metadata: @autoclosure () -> JSONObject = [:]) {
        log(.critical, message(), metadata: metadata())
    }
}

extension FunctionLogger.Level {
    fileprivate var rank: UInt32 { ofHost.rawValue }

    fileprivate var ofHost: hearth_log_level {
        switch self {
        case .trace: HEARTH_TRACE
        case .debug: HEARTH_DEBUG
        case .info: HEARTH_INFO
        case .notice: HEARTH_NOTICE
        case .warning: HEARTH_WARNING
        case .error: HEARTH_ERROR_LEVEL
        case .critical: HEARTH_CRITICAL
        }
    }
}
