/// Percent escapes of RFC 3986 section 2.1.
public enum PercentEncoding {
    /// The bytes that `text` stands for; nil when a `%` is not followed by two hexadecimal digits.
    ///
    /// - Parameter plusIsSpace: whether `+` is a blank, as in queries that forms and most libraries write.
    public static func decoded(_ text: Span<UInt8>, plusIsSpace: Bool = false) -> [UInt8]? {
        text.withUnsafeBufferPointer { decoded($0, plusIsSpace: plusIsSpace) }
    }

    static func decoded(_ text: UnsafeBufferPointer<UInt8>, plusIsSpace: Bool = false) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var index = 0
        while index < text.count {
            guard text[index] == UInt8(ascii: "%") else {
                bytes.append(plusIsSpace && text[index] == UInt8(ascii: "+") ? UInt8(ascii: " ") : text[index])
                index += 1
                continue
            }
            guard index + 2 < text.count, let high = digit(text[index + 1]), let low = digit(text[index + 2]) else { return nil }
            bytes.append(high << 4 | low)
            index += 3
        }
        return bytes
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
