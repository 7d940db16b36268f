import HearthBytes
import EventLoop
import Glibc

/// Writes the header fields of an answer straight into what waits to be sent.
///
/// `Date`, `Content-Length`, `Transfer-Encoding` and `Connection` are the server's own and are left out when given.
public struct ResponseHead {
    private let stream: Stream

    init(_ stream: Stream) { self.stream = stream }

    /// Adds a field that is known to be valid.
    public func field(_ name: StaticString, _ value: StaticString) {
        stream.outbox.append(name)
        stream.outbox.append(": ")
        stream.outbox.append(value)
        stream.outbox.append("\r\n")
    }

    /// Adds a field whose value comes from elsewhere; control characters in it become spaces.
    public func field(_ name: StaticString, _ value: Span<UInt8>) {
        stream.outbox.append(name)
        stream.outbox.append(": ")
        value.withUnsafeBufferPointer { appendCleaned($0) }
        stream.outbox.append("\r\n")
    }

    /// Adds a field whose value is a number.
    public func field(_ name: StaticString, _ value: Int) {
        stream.outbox.append(name)
        stream.outbox.append(": ")
        stream.outbox.append(decimal: value)
        stream.outbox.append("\r\n")
    }

    /// Adds a field that comes from elsewhere; it is left out when its name is none, or one of the server's own.
    public func field(_ name: Span<UInt8>, _ value: Span<UInt8>) {
        let isAllowed = name.withUnsafeBufferPointer { !$0.isEmpty && $0.allSatisfy(FieldSyntax.isToken) && !Self.isOwn($0) }
        guard isAllowed else { return }
        stream.outbox.append(name)
        stream.outbox.append(": ")
        value.withUnsafeBufferPointer { appendCleaned($0) }
        stream.outbox.append("\r\n")
    }

    /// Adds a field that comes from elsewhere; it is left out when its name is none, or one of the server's own.
    public func field(_ name: String, _ value: String) {
        var name = name
        var value = value
        name.withUTF8 { name in
            value.withUTF8 { value in field(Span(_unsafeElements: name), Span(_unsafeElements: value)) }
        }
    }

    /// CR or LF from elsewhere would let its author write fields, and answers, of his own (RFC 9110 section 5.5).
    private func appendCleaned(_ value: UnsafeBufferPointer<UInt8>) {
        stream.outbox.appendUninitialized(minimum: max(1, value.count)) { room in
            for index in 0..<value.count {
                let byte = value[index]
                room[index] = byte >= 0x20 && byte != 0x7F || byte == 0x09 ? byte : 0x20
            }
            return value.count
        }
    }

    private static func isOwn(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        switch name.count {
        case 4: name.equalsIgnoringCase(lowercase: "date")
        case 7: name.equalsIgnoringCase(lowercase: "upgrade") || name.equalsIgnoringCase(lowercase: "trailer")
        case 10: name.equalsIgnoringCase(lowercase: "connection") || name.equalsIgnoringCase(lowercase: "keep-alive")
        case 14: name.equalsIgnoringCase(lowercase: "content-length")
        case 17: name.equalsIgnoringCase(lowercase: "transfer-encoding")
        default: false
        }
    }
}
