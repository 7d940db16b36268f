extension Scanner {
    /// Takes a string from its opening quote to its closing one; true when it holds an escape.
    @inline(__always)
    mutating func string() throws(JSONError) -> Bool {
        var index = position + 1
        while index + 8 <= end {
            let special = Word.special(Word.load(base, index))
            if special != 0 {
                index += special.trailingZeroBitCount >> 3
                break
            }
            index += 8
        }
        if index < end, base[index] == UInt8(ascii: "\"") {
            position = index + 1
            return false
        }
        return try stringRemainder(from: index)
    }

    /// The rest of a string that is not plain ASCII up to its quote, or that ends within the last bytes of the text.
    @inline(never)
    private mutating func stringRemainder(from start: Int) throws(JSONError) -> Bool {
        var index = start
        var hasEscapes = false
        while index < end {
            let byte = base[index]
            if byte == UInt8(ascii: "\"") {
                position = index + 1
                return hasEscapes
            }
            if byte == UInt8(ascii: "\\") {
                hasEscapes = true
                index = try escape(at: index)
            } else if byte < 0x20 {
                throw JSONError(kind: .controlCharacter, offset: index)
            } else if byte < 0x80 {
                index += 1
            } else {
                index = try UTF8Sequence.end(in: base, from: index, to: end)
            }
            while index + 8 <= end {
                let special = Word.special(Word.load(base, index))
                if special != 0 {
                    index += special.trailingZeroBitCount >> 3
                    break
                }
                index += 8
            }
        }
        throw JSONError(kind: .unexpectedEnd, offset: end)
    }

    /// The position after the escape that begins at `start`.
    private func escape(at start: Int) throws(JSONError) -> Int {
        guard start + 1 < end else { throw JSONError(kind: .unexpectedEnd, offset: end) }
        switch base[start + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return start + 2
        case UInt8(ascii: "u"):
            for index in start + 2..<start + 6 {
                guard index < end else { throw JSONError(kind: .unexpectedEnd, offset: end) }
                guard Escape.hexDigit(base[index]) != nil else { throw JSONError(kind: .invalidEscape, offset: start) }
            }
            return start + 6
        default:
            throw JSONError(kind: .invalidEscape, offset: start)
        }
    }
}
