/// Text compared by its bytes. `String` takes canonically equivalent texts as equal, which are two keys here.
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

    /// Lends the UTF-8 of both texts.
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

    /// Which of two texts comes first by UTF-16 code units: negative, zero or positive as `left` stands to `right`.
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
