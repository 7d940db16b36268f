/// A number as it stands in a text that a scan has accepted.
struct NumberText {
    let base: UnsafePointer<UInt8>
    let count: Int

    @inline(__always)
    init(_ base: UnsafePointer<UInt8>, count: Int) {
        self.base = base
        self.count = count
    }

    @inline(__always)
    var isNegative: Bool { base[0] == UInt8(ascii: "-") }

    /// Whether there is neither fraction nor exponent.
    var isWhole: Bool {
        !UnsafeBufferPointer(start: base, count: count).contains { $0 == UInt8(ascii: ".") || $0 | 0x20 == UInt8(ascii: "e") }
    }

    /// The nearest `Float`; infinite when out of range.
    func float() -> Float {
        // Seven digits are exact; rounding a double that is itself rounded may land one step off.
        if count <= 7, isWhole { return Float(double()) }
        return Float(String(decoding: UnsafeBufferPointer(start: base, count: count), as: UTF8.self)) ?? .infinity
    }

    /// Sign and magnitude of a number without fraction and exponent, or nil when it does not fit 64 bits.
    @inline(__always)
    var integer: (magnitude: UInt64, isNegative: Bool)? {
        let isNegative = isNegative
        var index = isNegative ? 1 : 0
        var magnitude: UInt64 = 0
        if count - index > 19 {
            guard let wide = wideMagnitude(from: index) else { return nil }
            return (wide, isNegative)
        }
        while index < count {
            magnitude = magnitude &* 10 &+ UInt64(base[index] &- UInt8(ascii: "0"))
            index += 1
        }
        return (magnitude, isNegative)
    }

    private func wideMagnitude(from start: Int) -> UInt64? {
        var magnitude: UInt64 = 0
        for index in start..<count {
            let (product, overflow) = magnitude.multipliedReportingOverflow(by: 10)
            let (sum, carry) = product.addingReportingOverflow(UInt64(base[index] &- UInt8(ascii: "0")))
            if overflow || carry { return nil }
            magnitude = sum
        }
        return magnitude
    }

    /// The nearest `Double`.
    @inline(__always)
    func double() -> Double {
        // 15 digits are below 2^53, so every step is exact.
        guard count <= 15 else { return longDouble() }
        var index = isNegative ? 1 : 0
        var magnitude: Int64 = 0
        while index < count {
            let digit = base[index] &- UInt8(ascii: "0")
            if digit > 9 { return longDouble() }
            magnitude = magnitude &* 10 &+ Int64(digit)
            index += 1
        }
        let value = Double(magnitude)
        return isNegative ? -value : value
    }

    /// A mantissa below 2^53 and a power of ten up to 22 are both exact doubles, and one operation on two exact doubles rounds
    /// correctly (Clinger 1990). Everything else goes to the standard library.
    @inline(never)
    private func longDouble() -> Double {
        var index = isNegative ? 1 : 0
        var mantissa: UInt64 = 0
        var digits = 0
        var exponent = 0
        var isFraction = false
        while index < count {
            let byte = base[index]
            let digit = byte &- UInt8(ascii: "0")
            if digit < 10 {
                mantissa = mantissa &* 10 &+ UInt64(digit)
                if mantissa > 0 { digits += 1 }
                if isFraction { exponent -= 1 }
            } else if byte == UInt8(ascii: ".") {
                isFraction = true
            } else {
                break
            }
            index += 1
        }
        guard digits <= 18, mantissa <= 1 << 53 else { return slowDouble() }
        if index < count { exponent += writtenExponent(from: index + 1) }
        guard -22...22 ~= exponent else { return slowDouble() }
        let whole = Double(mantissa)
        let value = exponent < 0 ? whole / Self.powers[-exponent] : whole * Self.powers[exponent]
        return isNegative ? -value : value
    }

    /// The exponent after the letter, or something far out of range when it has more than four digits.
    private func writtenExponent(from start: Int) -> Int {
        var index = start
        let isNegative = base[index] == UInt8(ascii: "-")
        if isNegative || base[index] == UInt8(ascii: "+") { index += 1 }
        guard count - index <= 4 else { return 100_000 }
        var value = 0
        while index < count {
            value = value * 10 + Int(base[index] &- UInt8(ascii: "0"))
            index += 1
        }
        return isNegative ? -value : value
    }

    /// The nearest `Double` as the standard library finds it; infinite when out of range.
    @inline(never)
    func slowDouble() -> Double {
        Double(String(decoding: UnsafeBufferPointer(start: base, count: count), as: UTF8.self)) ?? .infinity
    }

    private static let powers: InlineArray<23, Double> = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
        1e21, 1e22,
    ]
}
