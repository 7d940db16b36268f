internal import CHearth
internal import HearthJSON
#if SwiftLog
internal import Logging
#endif

/// Connects swift-log to the host's log, where the package's trait `SwiftLog` is on.
enum LogHandling {
    /// Does nothing in a program such as a test, which sets up its own logging. A plugin has a copy of the logging library to itself.
    static func installIfAllowed() {
        #if SwiftLog
        if Premises.isPlugin { install }
        #endif
    }

    #if SwiftLog
    private static let install: Void = LoggingSystem.bootstrap { label in
        var handler = HostLogHandler()
        handler.metadata["logger"] = .string(label)
        return handler
    }
    #endif
}

#if SwiftLog
/// Sends the lines of swift-log's loggers to the host, under the invocation that the thread works for.
struct HostLogHandler: LogHandler {
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?
    /// Less severe lines are dropped.
    var logLevel = Logger.Level(rawValue: FunctionLogger.levelOfEnvironment.rawValue) ?? .debug

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var fields = JSONObject()
        for (name, value) in all(of: event).sorted(by: { $0.key < $1.key }) { fields[name] = value.json }
        FunctionLogger.write(event.level.ofHost, event.message.description, fields)
    }

    private func all(of event: LogEvent) -> Logger.Metadata {
        var all = metadata
        if let provided = metadataProvider?.get() { all.merge(provided) { _, new in new } }
        if let own = event.metadata { all.merge(own) { _, new in new } }
        if let error = event.error { all["error"] = "\(error)" }
        return all
    }
}

extension Logger.Level {
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

extension Logger.MetadataValue {
    fileprivate var json: JSONValue {
        switch self {
        case .string(let text):
            return .string(text)
        case .stringConvertible(let value):
            return .string(value.description)
        case .array(let values):
            return .array(values.map(\.json))
        case .dictionary(let members):
            var object = JSONObject()
            for (key, value) in members.sorted(by: { $0.key < $1.key }) { object[key] = value.json }
            return .object(object)
        }
    }
}
#endif
