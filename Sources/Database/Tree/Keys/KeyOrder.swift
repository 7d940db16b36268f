/// The order of children, which is the same in every client (spec database 1.4): 32-bit whole numbers first, by number; then the
/// others by UTF-16 code units.
public enum KeyOrder {
    /// Whether `left` comes before `right`.
    public static func precedes(_ left: String, _ right: String) -> Bool { compare(left, right) < 0 }

    /// Whether the two are one key: the same code points. `String`'s own equality takes composed and decomposed letters as one.
    public static func areEqual(_ left: String, _ right: String) -> Bool { TextOrder.equal(left, right) }

    /// Negative, zero or positive as `left` stands to `right`.
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
