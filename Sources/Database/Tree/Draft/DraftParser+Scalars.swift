import HearthJSON

extension DraftParser {
    /// The kind of a member's name.
    enum Key {
        case child(String)
        case virtual(VirtualMembers.Name)
        case invalid
    }

    /// Parses a member's name and the colon after it.
    mutating func key() throws(NodeError) -> Key {
        guard peek() == UInt8(ascii: "\"") else { throw NodeError(kind: .malformed) }
        let start = position + 1
        var index = start
        while index < count, !KeyCharacters.endsPlain(base[index]) { index += 1 }
        guard index < count else { throw NodeError(kind: .malformed) }
        let key: Key
        if base[index] == UInt8(ascii: "\""), index > start {
            let name = UnsafeBufferPointer(start: base + start, count: index - start)
            guard name.count <= limits.keyBytesMax else { throw NodeError(kind: .keyTooLong(bytesMax: limits.keyBytesMax)) }
            position = index + 1
            key = .child(try validated(name))
        } else {
            key = try classified(rawString())
        }
        skipWhitespace()
        try expect(UInt8(ascii: ":"))
        skipWhitespace()
        return key
    }

    private func classified(_ name: String) throws(NodeError) -> Key {
        switch name {
        case ".value": return .virtual(.value)
        case ".priority": return .virtual(.priority)
        case ".sv": return .virtual(.serverValue)
        default:
            var name = name
            guard name.withUTF8({ KeyCharacters.areValid($0) }) else { return .invalid }
            guard name.utf8.count <= limits.keyBytesMax else { throw NodeError(kind: .keyTooLong(bytesMax: limits.keyBytesMax)) }
            return .child(name)
        }
    }

    /// Parses the string at the position, with any contents.
    mutating func rawString() throws(NodeError) -> String {
        guard peek() == UInt8(ascii: "\"") else { throw NodeError(kind: .malformed) }
        let start = position + 1
        var index = PlainText.end(base, from: start, to: count)
        guard index < count else { throw NodeError(kind: .malformed) }
        if base[index] == UInt8(ascii: "\"") {
            position = index + 1
            return try validated(UnsafeBufferPointer(start: base + start, count: index - start))
        }
        while index < count, base[index] != UInt8(ascii: "\"") {
            guard base[index] >= 0x20 else { throw NodeError(kind: .malformed) }
            index = PlainText.end(base, from: base[index] == UInt8(ascii: "\\") ? min(index + 2, count) : index, to: count)
        }
        guard index < count else { throw NodeError(kind: .malformed) }
        position = index + 1
        guard case .string(let string) = try json(from: start - 1) else { throw NodeError(kind: .malformed) }
        return string
    }

    private func validated(_ bytes: UnsafeBufferPointer<UInt8>) throws(NodeError) -> String {
        guard let string = UTF8Text.string(bytes) else { throw NodeError(kind: .malformed) }
        return string
    }

    /// Parses a string, a number or a boolean.
    mutating func leaf() throws(NodeError) -> Leaf {
        switch peek() {
        case UInt8(ascii: "\""):
            let string = try rawString()
            guard string.utf8.count <= limits.stringBytesMax else {
                throw NodeError(kind: .stringTooLong(bytesMax: limits.stringBytesMax))
            }
            return .string(string)
        case UInt8(ascii: "t"):
            try literal("true")
            return .boolean(true)
        case UInt8(ascii: "f"):
            try literal("false")
            return .boolean(false)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            return try number()
        default:
            throw NodeError(kind: .malformed)
        }
    }

    private mutating func number() throws(NodeError) -> Leaf {
        let start = position
        while position < count, Self.isNumeric(base[position]) { position += 1 }
        if let value = ShortInteger.value(UnsafeBufferPointer(start: base + start, count: position - start)) {
            return .integer(value)
        }
        guard let leaf = Leaf(try json(from: start)) else { throw NodeError(kind: .malformed) }
        return leaf
    }

    @inline(__always)
    private static func isNumeric(_ byte: UInt8) -> Bool {
        byte &- UInt8(ascii: "0") < 10 || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".") || byte | 0x20 == UInt8(ascii: "e")
            || byte == UInt8(ascii: "+")
    }

    /// Parses the bytes from `start` to the position as JSON.
    private func json(from start: Int) throws(NodeError) -> JSONValue {
        do {
            return try JSONValue(parsing: UnsafeBufferPointer(start: base + start, count: position - start).span)
        } catch {
            throw NodeError(kind: .malformed)
        }
    }

    mutating func literal(_ word: StaticString) throws(NodeError) {
        let length = word.utf8CodeUnitCount
        guard position + length <= count else { throw NodeError(kind: .malformed) }
        for index in 0..<length where base[position + index] != word.utf8Start[index] { throw NodeError(kind: .malformed) }
        position += length
    }
}

/// The part of a JSON string without escapes.
enum PlainText {
    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let tops: UInt64 = 0x8080_8080_8080_8080

    /// The index of the first quote, backslash or control character; `end` if there is none.
    @inline(__always)
    static func end(_ base: UnsafePointer<UInt8>, from start: Int, to end: Int) -> Int {
        var index = start
        while index + 8 <= end {
            let word = UnsafeRawPointer(base).loadUnaligned(fromByteOffset: index, as: UInt64.self).littleEndian
            let quotes = word ^ (ones &* 0x22)
            let backslashes = word ^ (ones &* 0x5C)
            let found = (quotes &- ones) & ~quotes | (backslashes &- ones) & ~backslashes | (word &- ones &* 0x20) & ~word
            // Only the lowest set bit is reliable: a borrow may set one above it.
            if found & tops != 0 { return index + (found & tops).trailingZeroBitCount >> 3 }
            index += 8
        }
        while index < end {
            let byte = base[index]
            if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return index }
            index += 1
        }
        return end
    }
}
