import HearthBytes

/// Writes the fields of a row one after the other. The order determines their meaning.
struct RowWriter: ~Copyable {
    private(set) var buffer = ByteBuffer()

    /// Appends a number in groups of seven bits, the lowest group first.
    mutating func append(_ number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            buffer.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        buffer.append(UInt8(rest))
    }

    mutating func append(_ number: Int) { append(UInt64(number.magnitude)) }

    mutating func append(time: Int64) { append(UInt64(bitPattern: time)) }

    /// Appends the length, then the bytes.
    mutating func append(_ bytes: [UInt8]) {
        append(bytes.count)
        buffer.append(bytes)
    }

    /// Appends the length in UTF-8, then the text.
    mutating func append(_ text: String) {
        append(text.utf8.count)
        buffer.append(text)
    }

    /// Appends 1 and the text, or 0.
    mutating func append(_ text: String?) {
        append(text == nil ? 0 : 1)
        if let text { append(text) }
    }
}
