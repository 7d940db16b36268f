/// Text from bytes.
enum UTF8Text {
    private static let tops: UInt64 = 0x8080_8080_8080_8080

    /// The text that the bytes are; nil when they are not well-formed UTF-8.
    @inline(__always)
    static func string(_ bytes: UnsafeBufferPointer<UInt8>) -> String? {
        // The standard library's validating initialiser is generic and not specialised: several times slower on short texts.
        isASCII(bytes) ? String(decoding: bytes, as: UTF8.self) : String(validating: bytes, as: UTF8.self)
    }

    @inline(__always)
    static func isASCII(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let base = bytes.baseAddress else { return true }
        var seen: UInt64 = 0
        var index = 0
        while index + 8 <= bytes.count {
            seen |= UnsafeRawPointer(base).loadUnaligned(fromByteOffset: index, as: UInt64.self)
            index += 8
        }
        while index < bytes.count {
            seen |= UInt64(base[index])
            index += 1
        }
        return seen & tops == 0
    }
}
