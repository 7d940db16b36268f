/// A `google.protobuf.Duration` in JSON: `^-?[0-9]+(\.[0-9]{1,9})?s$`.
struct ProtoDuration: Sendable, Hashable {
    /// The whole seconds of the absolute value. Numbers with too many digits become the largest one.
    let seconds: Int64
    let nanoseconds: Int64
    let isNegative: Bool

    init?(_ text: String) {
        var bytes = Array(text.utf8)[...]
        isNegative = bytes.first == UInt8(ascii: "-")
        if isNegative { bytes.removeFirst() }
        guard bytes.popLast() == UInt8(ascii: "s") else { return nil }
        let whole = bytes.prefix { $0 != UInt8(ascii: ".") }
        let fraction = bytes.dropFirst(whole.count)
        guard !whole.isEmpty, whole.allSatisfy(Self.isDigit) else { return nil }
        seconds = Self.number(whole, digits: 15)
        guard !fraction.isEmpty else {
            nanoseconds = 0
            return
        }
        let digits = fraction.dropFirst()
        guard (1...9).contains(digits.count), digits.allSatisfy(Self.isDigit) else { return nil }
        var value = Self.number(digits, digits: 9)
        for _ in digits.count..<9 { value *= 10 }
        nanoseconds = value
    }

    /// Whether the duration is negative; -0 is not.
    var isBelowZero: Bool { isNegative && (seconds > 0 || nanoseconds > 0) }

    var milliseconds: Int64 { (isNegative ? -1 : 1) * (seconds * 1000 + nanoseconds / 1_000_000) }

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- 48 < 10 }

    private static func number(_ text: ArraySlice<UInt8>, digits: Int) -> Int64 {
        let significant = text.drop { $0 == 48 }
        guard significant.count <= digits else { return 999_999_999_999_999 }
        return significant.reduce(0) { $0 * 10 + Int64($1 - 48) }
    }
}
