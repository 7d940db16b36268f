import Bytes

/// Percent-encoding of URLs.
enum PercentCoding {
    /// The bytes that `text` stands for.
    ///
    /// - Parameter plusIsSpace: whether `+` is a blank, as in queries that forms and most libraries write.
    /// - Returns: nil when a `%` is not followed by two hexadecimal digits.
    static func decoded(_ text: Span<UInt8>, plusIsSpace: Bool) -> [UInt8]? {
        var isValid = true
        let bytes = [UInt8](unsafeUninitializedCapacity: text.count) { room, count in
            var index = 0
            while index < text.count {
                let byte = text[index]
                if byte == UInt8(ascii: "%") {
                    guard index + 2 < text.count, let high = digit(text[index + 1]), let low = digit(text[index + 2]) else {
                        isValid = false
                        return
                    }
                    room[count] = high << 4 | low
                    index += 3
                } else {
                    room[count] = plusIsSpace && byte == UInt8(ascii: "+") ? 0x20 : byte
                    index += 1
                }
                count += 1
            }
        }
        return isValid ? bytes : nil
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 48...57: byte - 48
        case 65...70: byte - 55
        case 97...102: byte - 87
        default: nil
        }
    }
}
