import Glibc

extension WallClock {
    /// Parses a time of RFC 3339, such as `2026-01-31T12:00:00Z` or `2026-01-31T13:00:00.25+01:00`.
    ///
    /// - Returns: microseconds since 1970; nil for anything else.
    package static func microseconds(rfc3339 text: String) -> Int64? {
        let bytes = Array(text.utf8)
        guard bytes.count >= 20, bytes[4] == 0x2D, bytes[7] == 0x2D, bytes[10] | 0x20 == 0x74, bytes[13] == 0x3A, bytes[16] == 0x3A,
            let year = number(bytes[0..<4]), let month = number(bytes[5..<7]), let day = number(bytes[8..<10]),
            let hour = number(bytes[11..<13]), let minute = number(bytes[14..<16]), let second = number(bytes[17..<19]),
            year >= 1970, (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second <= 60
        else { return nil }
        var rest = bytes[19...]
        var fraction = 0
        if rest.first == UInt8(ascii: ".") {
            let digits = rest.dropFirst().prefix { $0 &- 0x30 < 10 }
            guard (1...9).contains(digits.count), let number = number(digits.prefix(6)) else { return nil }
            fraction = number
            for _ in 0..<max(0, 6 - digits.count) { fraction *= 10 }
            rest = rest.dropFirst(digits.count + 1)
        }
        guard let offset = offsetSeconds(rest) else { return nil }
        var time = tm()
        time.tm_year = Int32(year - 1900)
        time.tm_mon = Int32(month - 1)
        time.tm_mday = Int32(day)
        time.tm_hour = Int32(hour)
        time.tm_min = Int32(minute)
        // A leap second counts as the first second of the next minute.
        time.tm_sec = Int32(min(second, 59))
        let seconds = Int64(timegm(&time)) - Int64(offset) + (second == 60 ? 1 : 0)
        // The calendar converts an invalid day, such as the 31st of February, to another one.
        guard Int(time.tm_mday) == day else { return nil }
        return seconds * 1_000_000 + Int64(fraction)
    }

    /// Parses an offset: `Z`, `+01:00`, `-05:30`.
    private static func offsetSeconds(_ text: ArraySlice<UInt8>) -> Int? {
        let text = Array(text)
        if text.count == 1, text[0] | 0x20 == 0x7A { return 0 }
        guard text.count == 6, text[3] == 0x3A, text[0] == 0x2B || text[0] == 0x2D, let hours = number(text[1..<3]),
            let minutes = number(text[4..<6]), hours < 24, minutes < 60
        else { return nil }
        return (text[0] == 0x2D ? -1 : 1) * (hours * 3600 + minutes * 60)
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
        var number = 0
        for digit in digits {
            guard digit &- 0x30 < 10 else { return nil }
            number = number * 10 + Int(digit &- 0x30)
        }
        return number
    }
}
