/// Checks a text that arrives in pieces (RFC 3629). Invalid bytes are noticed in the piece in which they are.
struct UTF8Check {
    /// The bytes of the current character that have not arrived.
    private var missing = 0
    /// The values that its next byte may have.
    private var next: ClosedRange<UInt8> = continuation

    private static let continuation: ClosedRange<UInt8> = 0x80...0xBF
    private static let highBits: UInt64 = 0x8080_8080_8080_8080

    /// Whether no character is cut off at the end of the pieces.
    var isComplete: Bool { missing == 0 }

    /// - Returns: false if no continuation makes the text valid.
    mutating func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let count = bytes.count
        var index = 0
        while missing > 0, index < count {
            guard take(bytes[index]) else { return false }
            index &+= 1
        }
        while index &+ 4 <= count {
            // ASCII, 16 bytes at a time.
            while index &+ 16 <= count {
                let first = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                let second = bytes.loadUnaligned(fromByteOffset: index &+ 8, as: UInt64.self)
                guard (first | second) & Self.highBits == 0 else { break }
                index &+= 16
            }
            // Whole characters for a while, so that a text of another script is not looked at twice.
            let end = min(count &- 3, index &+ 32)
            while index < end {
                let length = Self.length(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt32.self)))
                guard length > 0 else { return false }
                index &+= length
            }
        }
        while index < count {
            guard take(bytes[index]) else { return false }
            index &+= 1
        }
        return true
    }

    /// The number of bytes of the character with which four bytes begin, the first of them lowest; 0 if they begin with none.
    @inline(__always)
    private static func length(_ word: UInt32) -> Int {
        if word & 0x80 == 0 { return 1 }
        // The bits that must not all be zero exclude overlong forms.
        if word & 0xC0E0 == 0x80C0 { return word & 0x1E != 0 ? 2 : 0 }
        if word & 0xC0C0F0 == 0x8080E0 {
            let bits = word & 0x200F
            // ED with a large second byte is a surrogate.
            return bits != 0 && bits != 0x200D ? 3 : 0
        }
        guard word & 0xC0C0_C0F8 == 0x8080_80F0, word & 0x3007 != 0 else { return 0 }
        // F4 goes up to 8F.
        return word & 0x07 < 4 || word & 0x3007 == 4 ? 4 : 0
    }

    @inline(__always)
    private mutating func take(_ byte: UInt8) -> Bool {
        if missing == 0 {
            if byte < 0x80 { return true }
            return begin(byte)
        }
        guard next.contains(byte) else { return false }
        missing &-= 1
        next = Self.continuation
        return true
    }

    /// Takes the first byte of a character of several bytes. The second byte excludes overlong forms, surrogates, and values that are too large.
    @inline(__always)
    private mutating func begin(_ byte: UInt8) -> Bool {
        switch byte {
        case 0xC2...0xDF: missing = 1
        case 0xE0: (missing, next) = (2, 0xA0...0xBF)
        case 0xED: (missing, next) = (2, 0x80...0x9F)
        case 0xE1...0xEF: missing = 2
        case 0xF0: (missing, next) = (3, 0x90...0xBF)
        case 0xF1...0xF3: missing = 3
        case 0xF4: (missing, next) = (3, 0x80...0x8F)
        default: return false
        }
        return true
    }
}
