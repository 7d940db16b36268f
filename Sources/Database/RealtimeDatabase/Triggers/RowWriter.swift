import HearthBytes

/// Puts the fields of a row one behind the other. What each is follows from its place.
struct RowWriter: ~Copyable {
    private(set) var buffer = ByteBuffer()

    /// A number, in as many groups of seven bits as it needs, the low ones first.
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

    /// Its length, then its bytes.
    mutating func append(_ bytes: [UInt8]) {
        append(bytes.count)
        buffer.append(bytes)
    }

    /// Its length in UTF-8, then that.
    mutating func append(_ text: String) {
        append(text.utf8.count)
        buffer.append(text)
    }

    /// 1 and the text, or 0.
    mutating func append(_ text: String?) {
        append(text == nil ? 0 : 1)
        if let text { append(text) }
    }
}
