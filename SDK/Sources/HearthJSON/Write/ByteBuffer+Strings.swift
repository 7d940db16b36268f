import HearthBytes

extension ByteBuffer {
    /// Appends `text` between quotes, escaped as `JSON.stringify` does.
    @inline(__always)
    mutating func appendQuoted(_ text: String) {
        var text = text
        text.withUTF8 { appendQuoted($0, closing: 0x22, closingCount: 1) }
    }

    /// Appends `name` between quotes and a colon, after a comma if asked.
    @inline(__always)
    mutating func appendKey(_ name: String, comma: Bool) {
        var name = name
        if comma { append(UInt8(ascii: ",")) }
        name.withUTF8 { appendQuoted($0, closing: 0x3A22, closingCount: 2) }
    }

    /// Appends a quote, the text escaped, and the one or two bytes of `closing`, the first in its low half.
    @inline(__always)
    mutating func appendQuoted(_ text: UnsafeBufferPointer<UInt8>, closing: UInt16, closingCount: Int) {
        let count = text.count
        var copied = 0
        appendUninitialized(minimum: count + 3) { room in
            guard let target = room.baseAddress else { return 0 }
            target.storeBytes(of: UInt8(ascii: "\""), as: UInt8.self)
            guard let base = text.baseAddress, count > 0 else {
                target.storeBytes(of: closing.littleEndian, toByteOffset: 1, as: UInt16.self)
                copied = count
                return 1 + closingCount
            }
            copied = Self.copyPlain(base, count: count, to: target + 1)
            guard copied == count else { return 1 + copied }
            target.storeBytes(of: closing.littleEndian, toByteOffset: 1 + count, as: UInt16.self)
            return 1 + count + closingCount
        }
        if copied < count { appendEscaped(text, from: copied, closing: closing, closingCount: closingCount) }
    }

    /// Copies bytes up to the first that needs an escape, and returns their number.
    @inline(__always)
    private static func copyPlain(_ base: UnsafePointer<UInt8>, count: Int, to target: UnsafeMutableRawPointer) -> Int {
        var index = 0
        while index + 8 <= count {
            let word = Word.load(base, index)
            target.storeBytes(of: word.littleEndian, toByteOffset: index, as: UInt64.self)
            let escapable = Word.escapable(word)
            if escapable != 0 { return index + escapable.trailingZeroBitCount >> 3 }
            index += 8
        }
        while index < count {
            let byte = base[index]
            if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return index }
            target.storeBytes(of: byte, toByteOffset: index, as: UInt8.self)
            index += 1
        }
        return count
    }

    @inline(never)
    private mutating func appendEscaped(
        _ text: UnsafeBufferPointer<UInt8>, from start: Int, closing: UInt16, closingCount: Int
    ) {
        guard let base = text.baseAddress else { return }
        var index = start
        while index < text.count {
            appendEscape(base[index])
            index += 1
            let rest = text.count - index
            appendUninitialized(minimum: rest + 8) { room in
                guard let target = room.baseAddress else { return 0 }
                let copied = Self.copyPlain(base + index, count: rest, to: target)
                index += copied
                return copied
            }
        }
        append(UInt8(truncatingIfNeeded: closing))
        if closingCount == 2 { append(UInt8(truncatingIfNeeded: closing >> 8)) }
    }

    private mutating func appendEscape(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): append("\\\"")
        case UInt8(ascii: "\\"): append("\\\\")
        case 0x08: append("\\b")
        case 0x09: append("\\t")
        case 0x0A: append("\\n")
        case 0x0C: append("\\f")
        case 0x0D: append("\\r")
        default:
            append(byte < 0x10 ? "\\u000" : "\\u001")
            let digit = byte & 0x0F
            append(digit < 10 ? digit + UInt8(ascii: "0") : digit - 10 + UInt8(ascii: "a"))
        }
    }
}
