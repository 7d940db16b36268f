/// Eight bytes of text looked at together.
///
/// Each test answers with a word whose lowest set bit lies in the first byte that meets it; bits above that one mean nothing.
enum Word {
    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let tops: UInt64 = 0x8080_8080_8080_8080

    @inline(__always)
    static func load(_ base: UnsafePointer<UInt8>, _ offset: Int) -> UInt64 {
        UnsafeRawPointer(base).loadUnaligned(fromByteOffset: offset, as: UInt64.self).littleEndian
    }

    /// Quotes, backslashes and control characters.
    @inline(__always)
    static func escapable(_ word: UInt64) -> UInt64 {
        let quotes = word ^ (ones &* 0x22)
        let backslashes = word ^ (ones &* 0x5C)
        let found = (quotes &- ones) & ~quotes | (backslashes &- ones) & ~backslashes | (word &- ones &* 0x20) & ~word
        return found & tops
    }

    /// Everything `escapable` finds, and bytes outside ASCII.
    @inline(__always)
    static func special(_ word: UInt64) -> UInt64 { escapable(word) | word & tops }

    /// Whether two runs of `count` bytes are the same.
    @inline(__always)
    static func equal(_ left: UnsafePointer<UInt8>, _ right: UnsafePointer<UInt8>, count: Int) -> Bool {
        guard count >= 8 else {
            var index = 0
            while index < count {
                if left[index] != right[index] { return false }
                index += 1
            }
            return true
        }
        var index = 0
        while index + 8 <= count {
            if load(left, index) != load(right, index) { return false }
            index += 8
        }
        return load(left, count - 8) == load(right, count - 8)
    }
}
