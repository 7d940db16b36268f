/// A `google.protobuf.Timestamp` in JSON: RFC 3339 with `Z` or an offset, at most 9 fractional digits, years 1 to 9999.
struct Timestamp: Sendable, Hashable {
    /// Milliseconds since 1970; negative before.
    let milliseconds: Int64

    init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count >= 20, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"), bytes[10] | 0x20 == UInt8(ascii: "t"),
            bytes[13] == UInt8(ascii: ":"), bytes[16] == UInt8(ascii: ":"), let year = Self.number(bytes[0..<4]),
            let month = Self.number(bytes[5..<7]), let day = Self.number(bytes[8..<10]), let hour = Self.number(bytes[11..<13]),
            let minute = Self.number(bytes[14..<16]), let second = Self.number(bytes[17..<19]), year >= 1, (1...12).contains(month),
            day >= 1, day <= Self.days(in: month, of: year), hour <= 23, minute <= 59, second <= 59
        else { return nil }
        var rest = bytes[19...]
        var fraction: Int64 = 0
        if rest.first == UInt8(ascii: ".") {
            let digits = rest.dropFirst().prefix { $0 &- 48 < 10 }
            guard (1...9).contains(digits.count) else { return nil }
            for place in 0..<3 { fraction = fraction * 10 + (place < digits.count ? Int64(digits[digits.startIndex + place] - 48) : 0) }
            rest = rest.dropFirst(1 + digits.count)
        }
        guard let offset = Self.offsetMinutes(rest) else { return nil }
        let days = Int64(Self.daysSince1970(year, month, day))
        let minutes = Int64(hour * 60 + minute - offset)
        milliseconds = ((days * 1440 + minutes) * 60 + Int64(second)) * 1000 + fraction
    }

    /// Formats milliseconds since 1970 in RFC 3339 and UTC. The fraction is omitted if it is 0.
    static func text(milliseconds: Int64) -> String {
        let (date, second) = calendar(milliseconds)
        let fraction = milliseconds - (milliseconds / 1000) * 1000
        let tail = fraction > 0 ? ".\(padded(Int(fraction), 3))Z" : "Z"
        return "\(date)T\(padded(second / 3600, 2)):\(padded(second / 60 % 60, 2)):\(padded(second % 60, 2))\(tail)"
    }

    /// Formats the date only, such as `2026-01-31`.
    static func day(milliseconds: Int64) -> String { calendar(milliseconds).date }

    /// Converts a day number to a date, with Howard Hinnant's algorithm.
    private static func calendar(_ milliseconds: Int64) -> (date: String, second: Int) {
        let seconds = Int(milliseconds / 1000)
        let day = seconds / 86400 + 719_468
        let era = day / 146_097
        let dayOfEra = day - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        let date = "\(padded(year, 4))-\(padded(month, 2))-\(padded(dayOfYear - (153 * shifted + 2) / 5 + 1, 2))"
        return (date, seconds % 86400)
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
        var value = 0
        for digit in digits {
            guard digit &- 48 < 10 else { return nil }
            value = value * 10 + Int(digit - 48)
        }
        return value
    }

    private static func offsetMinutes(_ text: ArraySlice<UInt8>) -> Int? {
        if text.count == 1, text.first.map({ $0 | 0x20 }) == UInt8(ascii: "z") { return 0 }
        guard text.count == 6, let sign = text.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-"),
            text[text.startIndex + 3] == UInt8(ascii: ":"), let hours = number(text[text.startIndex + 1..<text.startIndex + 3]),
            let minutes = number(text[text.startIndex + 4..<text.endIndex]), hours <= 23, minutes <= 59
        else { return nil }
        return (sign == UInt8(ascii: "-") ? -1 : 1) * (hours * 60 + minutes)
    }

    private static func days(in month: Int, of year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    private static func daysSince1970(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = shiftedYear / 400
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
