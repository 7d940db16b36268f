/// The significant digits of a number greater than zero, and where its decimal point stands: 0.d₁d₂d₃... × 10^point.
struct DecimalDigits {
    /// ASCII digits, the first and the last of them not zero.
    private(set) var digits: [UInt8] = []
    private(set) var point = 0

    /// Takes apart a description of the standard library, such as `1.5e-07`, `1e+300` or `1234.0`.
    init(_ base: UnsafePointer<UInt8>, count: Int) {
        var index = 0
        var hasPoint = false
        while index < count, base[index] != UInt8(ascii: "e") {
            let byte = base[index]
            index += 1
            if byte == UInt8(ascii: ".") {
                hasPoint = true
                continue
            }
            if digits.isEmpty, byte == UInt8(ascii: "0") {
                if hasPoint { point -= 1 }
                continue
            }
            digits.append(byte)
            if !hasPoint { point += 1 }
        }
        while digits.last == UInt8(ascii: "0") { digits.removeLast() }
        guard index < count else { return }
        let isNegative = base[index + 1] == UInt8(ascii: "-")
        var exponent = 0
        for byte in UnsafeBufferPointer(start: base + index + 2, count: count - index - 2) {
            exponent = exponent * 10 + Int(byte - UInt8(ascii: "0"))
        }
        point += isNegative ? -exponent : exponent
    }
}
