import HearthBytes

extension ByteBuffer {
    @inline(__always)
    mutating func appendNumber<I: FixedWidthInteger>(_ value: I) {
        appendDigits(UInt64(truncatingIfNeeded: value.magnitude), isNegative: value < 0)
    }

    /// Appends a number up to 64 bits in decimal.
    @inline(__always)
    mutating func appendDigits(_ magnitude: UInt64, isNegative: Bool) {
        if magnitude < 10, !isNegative { return append(UInt8(truncatingIfNeeded: magnitude) + UInt8(ascii: "0")) }
        appendManyDigits(magnitude, isNegative: isNegative)
    }

    @inline(never)
    private mutating func appendManyDigits(_ magnitude: UInt64, isNegative: Bool) {
        if isNegative { append(UInt8(ascii: "-")) }
        var count = 1
        var bound: UInt64 = 10
        while count < 20, magnitude >= bound {
            count += 1
            bound = bound &* 10
        }
        appendUninitialized(minimum: 20) { room in
            var rest = magnitude
            var index = count
            while index > 0 {
                index -= 1
                let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
                room[index] = UInt8(truncatingIfNeeded: digit) + UInt8(ascii: "0")
                rest = quotient
            }
            return count
        }
    }

    /// Appends a finite number as `JSON.stringify` writes it, unless large ones are to be told apart, and null for any other.
    @inline(__always)
    mutating func appendNumber(_ value: Double, large: LargeDoubles) {
        // Doubles hold every whole number below 2^53; the digits of larger ones are not the shortest that read back.
        if value.magnitude < 0x1p53, Double(Int64(value)) == value {
            appendNumber(Int64(value))
        } else if value.isFinite {
            appendShortest(value.magnitude.description, isNegative: value < 0, large)
        } else {
            append("null")
        }
    }

    /// Appends a finite number with as many digits as a `Float` needs, and null for any other.
    mutating func appendNumber(_ value: Float, large: LargeDoubles) {
        if value.magnitude <= 0x1p24, Float(Int64(value)) == value {
            appendNumber(Int64(value))
        } else if value.isFinite {
            appendShortest(value.magnitude.description, isNegative: value < 0, value.magnitude < 0x1p53 ? .digits : large)
        } else {
            append("null")
        }
    }

    /// Appends the number that `text` describes in the form of ECMA-262, `Number::toString`.
    @inline(never)
    private mutating func appendShortest(_ text: String, isNegative: Bool, _ large: LargeDoubles) {
        if isNegative { append(UInt8(ascii: "-")) }
        var text = text
        text.withUTF8 { text in
            guard let base = text.baseAddress else { return }
            // Between 1e-4 and 2^53 the standard library writes as JavaScript does, except for whole numbers.
            if !text.contains(UInt8(ascii: "e")), text.last != UInt8(ascii: "0") {
                return append(UnsafeRawBufferPointer(text))
            }
            append(DecimalDigits(base, count: text.count), large)
        }
    }

    private mutating func append(_ number: DecimalDigits, _ large: LargeDoubles) {
        let digits = number.digits
        let point = number.point
        switch point {
        case digits.count...21 where large == .digits:
            append(digits)
            for _ in digits.count..<point { append(UInt8(ascii: "0")) }
        case 1..<digits.count where point <= 21:
            append(Array(digits[..<point]))
            append(UInt8(ascii: "."))
            append(Array(digits[point...]))
        case -5...0:
            append("0.")
            for _ in point..<0 { append(UInt8(ascii: "0")) }
            append(digits)
        default:
            append(digits[0])
            if digits.count > 1 {
                append(UInt8(ascii: "."))
                append(Array(digits[1...]))
            }
            append(UInt8(ascii: "e"))
            append(UInt8(ascii: point > 0 ? "+" : "-"))
            appendNumber((point - 1).magnitude)
        }
    }
}

/// The form of whole doubles from 2^53 on. Below, a double holds every whole number.
public enum LargeDoubles: Sendable, Hashable {
    /// As `JSON.stringify` does: digits only below 10^21. A reader that keeps whole numbers apart takes them for integers.
    case digits
    /// With an exponent, `1e+17`, so that a double is read as a double.
    case exponent
}

/// The significant digits of a number greater than zero, and where its decimal point stands: 0.d₁d₂d₃... × 10^point.
struct DecimalDigits {
    /// ASCII digits, the first and the last of them not zero.
    private(set) var digits: [UInt8] = []
    private(set) var point = 0

    /// Parses a description of the standard library, such as `1.5e-07`, `1e+300` or `1234.0`.
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
