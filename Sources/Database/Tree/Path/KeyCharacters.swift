/// Which bytes may stand in a key (spec database 1.1): all but `. $ # [ ] /`, control characters and U+007F.
enum KeyCharacters {
    /// One bit for each of the first 64 bytes: control characters, `#`, `$`, `.` and `/`.
    private static let low: UInt64 = 0xFFFF_FFFF | 1 << 0x23 | 1 << 0x24 | 1 << 0x2E | 1 << 0x2F
    /// The same for the next 64: `[`, `]` and U+007F.
    private static let high: UInt64 = 1 << 0x1B | 1 << 0x1D | 1 << 0x3F

    @inline(__always)
    static func isForbidden(_ byte: UInt8) -> Bool {
        byte < 0x80 && (byte < 64 ? low : high) >> UInt64(byte & 63) & 1 == 1
    }

    /// Whether a byte of a JSON string cannot be part of a key that is read as it stands.
    @inline(__always)
    static func endsPlain(_ byte: UInt8) -> Bool {
        byte < 0x80 && (byte < 64 ? low | 1 << 0x22 : high | 1 << 0x1C) >> UInt64(byte & 63) & 1 == 1
    }

    @inline(__always)
    static func areValid(_ key: UnsafeBufferPointer<UInt8>) -> Bool {
        guard !key.isEmpty else { return false }
        for byte in key where isForbidden(byte) { return false }
        return true
    }
}
