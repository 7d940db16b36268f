import AdminProtocol
import FunctionDispatch
import HearthBytes
import HearthJSON

/// The bodies of a callable's answers (spec functions 2.2 and 4.2).
package enum CallableAnswer {
    /// Appends `{"<key>":<value>}`. `value` is the JSON that a function answered; an empty one is written as null.
    ///
    /// - Returns: false if `value` is not JSON; then nothing is appended.
    static func append(_ key: StaticString, _ value: Span<UInt8>, to buffer: inout ByteBuffer) -> Bool {
        guard value.count > 0 else {
            open(key, &buffer)
            buffer.append("null}")
            return true
        }
        guard let facts = try? JSONScan.validate(value, limits: CallableLimits.json) else { return false }
        open(key, &buffer)
        if facts.hasBigInteger, let parsed = try? JSONValue(parsing: value, limits: CallableLimits.json) {
            IntegerWrappers.wrap(parsed).write(to: &buffer)
        } else {
            buffer.append(value)
        }
        buffer.append(UInt8(ascii: "}"))
        return true
    }

    /// Whether a function's value is JSON that is sent as it is.
    static func isPlain(_ value: Span<UInt8>) -> Bool {
        guard let facts = try? JSONScan.validate(value, limits: CallableLimits.json) else { return false }
        return !facts.hasBigInteger
    }

    private static func open(_ key: StaticString, _ buffer: inout ByteBuffer) {
        buffer.append("{\"")
        buffer.append(key)
        buffer.append("\":")
    }

    /// Appends `{"error":{...}}`.
    package static func append(error: CallableError, to buffer: inout ByteBuffer) {
        buffer.append("{\"error\":{")
        if let details = error.details {
            buffer.append("\"details\":")
            IntegerWrappers.wrap(details).write(to: &buffer)
            buffer.append(",")
        }
        buffer.append("\"message\":")
        buffer.append(jsonString: error.message)
        buffer.append(",\"status\":\"")
        buffer.append(error.code.status)
        buffer.append("\"}}")
    }
}
