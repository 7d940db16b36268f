public import HearthJSON

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A checked request to the send API.
public struct CheckedSend: Sendable {
    /// The valid message.
    public let message: Message
    /// Whether the message is only checked, not sent.
    public let isValidateOnly: Bool
}

/// Parses and checks the body of a send, in the order of spec messaging 2.3: JSON, types, target, rules, size.
public struct MessageParser: Sendable {
    /// The keys that applications may not use in data.
    public enum ReservedKeys: Sendable {
        /// The keys that the documentation forbids.
        case strict
        /// The keys that the hosted service actually refuses.
        case wire
    }

    /// The size limit of a payload, in bytes.
    public var payloadBytesMax = 4096
    /// The size limit for topics and conditions, in bytes.
    public var topicPayloadBytesMax = 4096
    /// The forbidden keys.
    public var reservedKeys = ReservedKeys.strict

    /// A parser with the limits of the hosted service.
    public init() {}

    /// The size limit of a request body, in bytes.
    public static let bodyBytesMax = 1024 * 1024

    /// Parses and checks the body of a request.
    public func parse(_ body: Span<UInt8>) throws(MessagingError) -> CheckedSend {
        guard !LoneSurrogates.areIn(body) else { throw .notJSON("A string contains half of a surrogate pair.") }
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONValue(parsing: body, limits: JSONLimits(depthMax: 100))
        } catch {
            throw .notJSON(error.kind == .invalidUTF8 ? "The body is not UTF-8." : "Unexpected token.")
        }
        return try check(value)
    }

    /// Checks a request that was parsed as JSON.
    public func check(_ request: JSONValue) throws(MessagingError) -> CheckedSend {
        let fields = try ProtoReader.message(request, MessageSchema.request, at: "")
        guard var message = fields["message"]?.object else { throw .noTarget }
        message.removeValue(forKey: "name")
        let checked = Message(target: try Self.target(&message), fields: message)
        let violations = MessageRules(checked, reservedKeys: reservedKeys).violations()
        if let first = violations.first {
            throw MessagingError(.invalidArgument, first.message, violations: violations.map(\.violation))
        }
        try checkSize(checked)
        return CheckedSend(message: checked, isValidateOnly: fields["validate_only"]?.bool ?? false)
    }

    private static func target(_ fields: inout JSONObject) throws(MessagingError) -> Message.Target {
        if let fid = fields["fid"]?.string { return .fid(fid) }
        if let token = fields["token"]?.string {
            guard RegistrationToken.isWellFormed(token) else { throw .badToken }
            return .token(token)
        }
        if let text = fields["topic"]?.string {
            guard let topic = TopicName(text) else { throw .badTopic }
            fields["topic"] = .string(topic.text)
            return .topic(topic)
        }
        guard let text = fields["condition"]?.string else { throw .noTarget }
        guard let condition = TopicCondition(text) else { throw .badCondition }
        return .condition(condition)
    }

    /// Checks the size. The platform of a token is known later, so only messages that are too large for all platforms are refused here.
    private func checkSize(_ message: Message) throws(MessagingError) {
        let size = PayloadSize(message)
        switch message.target {
        case .topic, .condition: try size.check(.everyone, limit: topicPayloadBytesMax)
        case .fid, .token: try size.check(.unknownDevice, limit: payloadBytesMax)
        }
    }
}

/// Finds escapes of lone surrogates, which encode no character.
enum LoneSurrogates {
    static func areIn(_ text: Span<UInt8>) -> Bool {
        text.withUnsafeBufferPointer { bytes in
            // A fast path for messages without escapes.
            guard let start = bytes.baseAddress, memchr(start, 0x5C, bytes.count) != nil else { return false }
            var index = 0
            var expectsLow = false
            while index < bytes.count {
                let isEscape = bytes[index] == UInt8(ascii: "\\")
                guard isEscape, index + 1 < bytes.count else {
                    if expectsLow { return true }
                    index += 1
                    continue
                }
                let unit = bytes[index + 1] == UInt8(ascii: "u") ? codeUnit(bytes, index + 2) : nil
                switch unit {
                case .some(0xDC00...0xDFFF):
                    guard expectsLow else { return true }
                    expectsLow = false
                case .some(0xD800...0xDBFF):
                    guard !expectsLow else { return true }
                    expectsLow = true
                default: if expectsLow { return true }
                }
                index += unit == nil ? 2 : 6
            }
            return expectsLow
        }
    }

    private static func codeUnit(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int) -> UInt16? {
        guard start + 4 <= bytes.count else { return nil }
        var unit: UInt16 = 0
        for byte in bytes[start..<start + 4] {
            let digit: UInt8
            switch byte {
            case 48...57: digit = byte - 48
            case 65...70: digit = byte - 55
            case 97...102: digit = byte - 87
            default: return nil
            }
            unit = unit << 4 | UInt16(digit)
        }
        return unit
    }
}
