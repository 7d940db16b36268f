import Bytes
import Tree

/// What a function is given of an event.
enum EventPayload {
    /// `{"before":...,"after":...}`, or `{"truncated":true}` for values that are not kept.
    static func json(_ values: TriggeredEvent.Values?) -> [UInt8] {
        guard let values else { return Array("{\"truncated\":true}".utf8) }
        var buffer = ByteBuffer()
        buffer.append("{\"before\":")
        values.before.write(to: &buffer)
        buffer.append(",\"after\":")
        values.after.write(to: &buffer)
        buffer.append("}")
        return buffer.array()
    }
}
