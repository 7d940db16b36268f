/// Times as RFC 3339 with exactly three fractional digits, which the SDK for Apple platforms requires.
public enum TimeText {
    /// Formats milliseconds since 1970.
    public static func text(milliseconds: Int64) -> String {
        let seconds = Int(milliseconds / 1000)
        let (year, month, day) = date(days: seconds / 86_400)
        let second = seconds % 86_400
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))T"
            + "\(padded(second / 3600, 2)):\(padded(second / 60 % 60, 2)):\(padded(second % 60, 2)).\(padded(Int(milliseconds % 1000), 3))Z"
    }

    /// Parses the same form, with any number of fractional digits, in UTC; nil if the text has another form.
    public static func milliseconds(_ text: String) -> Int64? {
        let bytes = Array(text.utf8)
        guard bytes.count >= 20, bytes.last == UInt8(ascii: "Z") else { return nil }
        func number(_ range: Range<Int>) -> Int? { Int(String(decoding: bytes[range], as: UTF8.self)) }
        guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10), let hour = number(11..<13),
            let minute = number(14..<16), let second = number(17..<19), (1...12).contains(month), (1...31).contains(day)
        else { return nil }
        var fraction = 0
        if bytes.count > 21, bytes[19] == UInt8(ascii: ".") {
            let digits = (String(decoding: bytes[20..<bytes.count - 1], as: UTF8.self) + "00").prefix(3)
            guard let parsed = Int(digits) else { return nil }
            fraction = parsed
        }
        return Int64(((days(year, month, day) * 24 + hour) * 60 + minute) * 60 + second) * 1000 + Int64(fraction)
    }

    private static func padded(_ number: Int, _ count: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, count - digits.count)) + digits
    }

    /// Converts a day number to a date of the Gregorian calendar.
    private static func date(days: Int) -> (Int, Int, Int) {
        let day = days + 719_468
        let era = day / 146_097
        let ofEra = day - era * 146_097
        let year = (ofEra - ofEra / 1460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * year + year / 4 - year / 100)
        let shifted = (5 * ofYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return (year + era * 400 + (month <= 2 ? 1 : 0), month, ofYear - (153 * shifted + 2) / 5 + 1)
    }

    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let era = year / 400
        let ofEra = year - era * 400
        let ofYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + ofEra * 365 + ofEra / 4 - ofEra / 100 + ofYear - 719_468
    }
}
