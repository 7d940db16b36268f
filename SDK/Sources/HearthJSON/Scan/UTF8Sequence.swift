/// Well-formed UTF-8 outside ASCII, as table 3-7 of the Unicode standard has it: no overlong forms, no surrogates.
enum UTF8Sequence {
    /// The position after the run of sequences of two to four bytes that begins at `start`.
    static func end(in base: UnsafePointer<UInt8>, from start: Int, to end: Int) throws(JSONError) -> Int {
        var index = start
        while index < end, base[index] >= 0x80 {
            let first = base[index]
            let length: Int
            var second: ClosedRange<UInt8> = 0x80...0xBF
            switch first {
            case 0xC2...0xDF: length = 2
            case 0xE0: length = 3; second = 0xA0...0xBF
            case 0xED: length = 3; second = 0x80...0x9F
            case 0xE1...0xEF: length = 3
            case 0xF0: length = 4; second = 0x90...0xBF
            case 0xF1...0xF3: length = 4
            case 0xF4: length = 4; second = 0x80...0x8F
            default: throw JSONError(kind: .invalidUTF8, offset: index)
            }
            guard end - index >= length, second.contains(base[index + 1]) else {
                throw JSONError(kind: .invalidUTF8, offset: index)
            }
            for tail in (index + 2)..<(index + length) where base[tail] & 0xC0 != 0x80 {
                throw JSONError(kind: .invalidUTF8, offset: index)
            }
            index += length
        }
        return index
    }
}
