/// The order of children, the same in every client (spec database 1.4): 32-bit integers first, by number; then other keys by UTF-16 code
/// units.
public enum KeyOrder {
    /// Whether `left` comes before `right`.
    public static func precedes(_ left: String, _ right: String) -> Bool { compare(left, right) < 0 }

    /// Whether two keys are equal, by code points. `String` equality would also equate canonically equivalent texts.
    public static func areEqual(_ left: String, _ right: String) -> Bool { TextOrder.equal(left, right) }

    /// Negative, zero or positive if `left` sorts before, with or after `right`.
    public static func compare(_ left: String, _ right: String) -> Int {
        TextOrder.withBytes(left, right) { compare($0, $1) }
    }

    @inline(__always)
    static func compare(_ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>) -> Int {
        let one = IntegerKey(left)
        let other = IntegerKey(right)
        if let one { return other.map { one.compared(to: $0) } ?? -1 }
        return other == nil ? TextOrder.compareUTF16(left, right) : 1
    }
}

/// Comparison of texts by their bytes. `String` equates canonically equivalent texts, which are different keys here.
public enum TextOrder {
    /// Whether both are the same bytes.
    @inline(__always)
    public static func equal(_ left: String, _ right: String) -> Bool {
        withBytes(left, right) { left, right in
            left.count == right.count && left.elementsEqual(right)
        }
    }

    @inline(__always)
    static func hash(_ text: String, into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        hasher.combine(UInt8.max)
    }

    /// Calls `body` with the UTF-8 bytes of both texts.
    @inline(__always)
    public static func withBytes<R>(
        _ left: String, _ right: String, _ body: (UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>) -> R
    ) -> R {
        var left = left
        var right = right
        return left.withUTF8 { left in right.withUTF8 { right in body(left, right) } }
    }

    /// Whether `left` comes before `right` by UTF-16 code units.
    public static func precedes(_ left: String, _ right: String) -> Bool { withBytes(left, right) { compareUTF16($0, $1) < 0 } }

    /// Compares by UTF-16 code units: negative, zero or positive if `left` sorts before, with or after `right`.
    @inline(__always)
    static func compareUTF16(_ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>) -> Int {
        let shared = min(left.count, right.count)
        var index = 0
        while index < shared {
            let one = left[index]
            let other = right[index]
            if one != other { return Int(UTF16Order.lifted(one)) - Int(UTF16Order.lifted(other)) }
            index += 1
        }
        return left.count - right.count
    }
}

/// UTF-8 that sorts as UTF-16 does.
///
/// The two orders differ in one thing: U+E000 to U+FFFF, whose lead bytes are EE and EF, come after the supplementary planes,
/// whose lead bytes are F0 to F4. Lifting the two above F4 makes bytes sort as code units.
enum UTF16Order {
    @inline(__always)
    static func lifted(_ byte: UInt8) -> UInt8 { byte == 0xEE || byte == 0xEF ? byte + 7 : byte }

    @inline(__always)
    static func lowered(_ byte: UInt8) -> UInt8 { byte >= 0xF5 ? byte &- 7 : byte }
}

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
