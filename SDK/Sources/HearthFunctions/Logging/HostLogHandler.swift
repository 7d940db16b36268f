internal import HearthBytes
internal import CHearth
internal import HearthJSON

/// Sends log lines to the host, under the invocation that the thread works for.
struct HostLogHandler: LogHandler {
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?
    /// Lines below it are not made. From the variable `LOG_LEVEL`, else debug.
    var logLevel = HostLogHandler.levelOfEnvironment

    private static let levelOfEnvironment = environment("LOG_LEVEL").flatMap(Logger.Level.init(rawValue:)) ?? .debug

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        guard let attachment = Attachment.current else { return }
        var message = event.message.description
        var fields = ByteBuffer()
        write(all(of: event), to: &fields)
        message.withUTF8 { message in
            fields.withUnsafeBytes { fields in
                attachment.host.log(
                    attachment.attributed, event.level.ofHost, UnsafeRawBufferPointer(message), fields: fields)
            }
        }
    }

    private func all(of event: LogEvent) -> Logger.Metadata {
        var all = metadata
        if let provided = metadataProvider?.get() { all.merge(provided) { _, new in new } }
        if let own = event.metadata { all.merge(own) { _, new in new } }
        if let error = event.error { all["error"] = "\(error)" }
        return all
    }

    /// Writes the fields as a JSON object, or nothing where there are none.
    private func write(_ metadata: Logger.Metadata, to buffer: inout ByteBuffer) {
        if !metadata.isEmpty { Logger.MetadataValue.dictionary(metadata).json.write(to: &buffer) }
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
