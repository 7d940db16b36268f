/// A key that is a 32-bit integer (`-?0*[0-9]{1,10}` within the range; spec database 1.4). Such keys sort by number.
///
/// Several texts have the same number (`1`, `01`); the shorter sorts first. `tie` distinguishes them: twice the length, plus one for a
/// signed zero, because `-0` and `00` have the same length.
struct IntegerKey: Equatable {
    let value: Int32
    let tie: Int

    @inline(__always)
    init?(_ text: UnsafeBufferPointer<UInt8>) {
        guard let base = text.baseAddress, let first = text.first else { return nil }
        guard first &- UInt8(ascii: "0") < 10 || first == UInt8(ascii: "-") else { return nil }
        self.init(base, count: text.count)
    }

    private init?(_ base: UnsafePointer<UInt8>, count: Int) {
        let isNegative = base[0] == UInt8(ascii: "-")
        var index = isNegative ? 1 : 0
        guard index < count else { return nil }
        while index < count - 1, base[index] == UInt8(ascii: "0") { index += 1 }
        guard count - index <= 10 else { return nil }
        var magnitude: Int64 = 0
        while index < count {
            let digit = base[index] &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            magnitude = magnitude * 10 + Int64(digit)
            index += 1
        }
        guard let value = Int32(exactly: isNegative ? -magnitude : magnitude) else { return nil }
        self.value = value
        tie = count * 2 + (isNegative && value == 0 ? 1 : 0)
    }

    init(value: Int32, tie: Int) {
        self.value = value
        self.tie = tie
    }

    /// Negative, zero or positive if this key sorts before, with or after `other`.
    @inline(__always)
    func compared(to other: IntegerKey) -> Int {
        value == other.value ? tie - other.tie : (value < other.value ? -1 : 1)
    }

    /// The length of the text in bytes.
    var length: Int { tie / 2 }

    /// Whether the text has a minus sign.
    var isNegative: Bool { value < 0 || tie & 1 == 1 }

    /// The number as an array index: nil if it is negative or not in its shortest form.
    @inline(__always)
    var arrayIndex: Int? {
        guard value >= 0, tie & 1 == 0 else { return nil }
        var digits = 1
        var bound = 10
        while Int(value) >= bound {
            digits += 1
            bound *= 10
        }
        return digits == length ? Int(value) : nil
    }

    /// Passes the bytes of the text, with sign and leading zeros, to `body` one by one.
    func forEachByte(_ body: (UInt8) -> Void) {
        if isNegative { body(UInt8(ascii: "-")) }
        let magnitude = Int(value.magnitude)
        var digits = 1
        var unit = 1
        while magnitude / unit >= 10 {
            digits += 1
            unit *= 10
        }
        for _ in 0..<max(0, length - (isNegative ? 1 : 0) - digits) { body(UInt8(ascii: "0")) }
        while unit > 0 {
            body(UInt8(ascii: "0") + UInt8(magnitude / unit % 10))
            unit /= 10
        }
    }
}
