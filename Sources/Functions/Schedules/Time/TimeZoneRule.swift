/// The rule for all times after the last change that a time zone file lists: the form that POSIX describes for the variable `TZ`, with the
/// extensions of RFC 9636.
///
/// `CET-1CEST,M3.5.0,M10.5.0/3` means: an hour east of Greenwich, and two from the last Sunday in March to the last Sunday in October.
struct TimeZoneRule: Sendable, Equatable {
    /// The day and time of a change, in the local time before it.
    struct Change: Sendable, Equatable {
        enum Day: Sendable, Equatable {
            /// 1 to 365; 29 February is never counted.
            case withoutLeapDays(Int)
            /// 0 to 365; 29 February is counted.
            case ofYear(Int)
            /// A day of the week, 0 for Sunday, in a week of a month; the fifth week is the last one.
            case ofWeek(month: Int, week: Int, weekday: Int)
        }

        var day: Day
        var seconds: Int64

        /// The time of the change in seconds since 1970, as a clock without a time zone shows it.
        func localSeconds(year: Int) -> Int64 {
            let first = CivilDay(year: year, month: 1, day: 1).number
            let number: Int64
            switch day {
            case .withoutLeapDays(let day): number = first + Int64(day - 1) + (CivilDay.isLeap(year) && day >= 60 ? 1 : 0)
            case .ofYear(let day): number = first + Int64(day)
            case .ofWeek(let month, let week, let weekday):
                let start = CivilDay(year: year, month: month, day: 1).number
                let offset = (weekday - CivilDay.weekday(ofNumber: start) + 7) % 7
                var day = offset + 7 * (week - 1)
                while day >= CivilDay.length(ofMonth: month, year: year) { day -= 7 }
                number = start + Int64(day)
            }
            return number * 86_400 + seconds
        }
    }

    /// Summer time, and the changes to it and back.
    struct Summer: Sendable, Equatable {
        var offset: Int64
        var start: Change
        var end: Change
    }

    /// Seconds east of Greenwich.
    var offset: Int64
    var summer: Summer?

    /// The part of time with one offset that contains `time`.
    func segment(at time: Int64) -> TimeZoneSegment {
        guard let summer else { return TimeZoneSegment(start: .min, end: .max, offset: offset) }
        let year = CivilDay(number: (time + offset).floorDivided(by: 86_400)).year
        var changes: [(time: Int64, offset: Int64)] = []
        for year in (year - 1)...(year + 1) {
            changes.append((summer.start.localSeconds(year: year) - offset, summer.offset))
            changes.append((summer.end.localSeconds(year: year) - summer.offset, offset))
        }
        changes.sort { $0.time < $1.time }
        var segment = TimeZoneSegment(start: .min, end: .max, offset: changes.first?.offset == offset ? summer.offset : offset)
        for change in changes {
            if change.time > time {
                segment.end = change.time
                break
            }
            segment = TimeZoneSegment(start: change.time, end: .max, offset: change.offset)
        }
        return segment
    }
}

extension TimeZoneRule {
    /// Parses a rule; nil for an invalid one.
    init?(parsing text: Span<UInt8>) {
        var reader = RuleReader(text)
        guard reader.skipName(), let west = reader.time(hoursMax: 24) else { return nil }
        offset = -west
        guard !reader.isAtEnd else { return }
        guard reader.skipName() else { return nil }
        var summerOffset = offset + 3600
        if reader.next != UInt8(ascii: ",") {
            guard let west = reader.time(hoursMax: 24) else { return nil }
            summerOffset = -west
        }
        guard let start = reader.change(), let end = reader.change(), reader.isAtEnd else { return nil }
        summer = Summer(offset: summerOffset, start: start, end: end)
    }
}

/// Reads the parts of a rule.
private struct RuleReader: ~Escapable {
    private let text: Span<UInt8>
    private var index = 0

    @_lifetime(copy text)
    init(_ text: Span<UInt8>) { self.text = text }

    var isAtEnd: Bool { index >= text.count }
    var next: UInt8? { index < text.count ? text[index] : nil }

    private mutating func take(_ letter: Character) -> Bool {
        guard next == letter.asciiValue else { return false }
        index += 1
        return true
    }

    /// Skips a name of letters, or of anything in angle brackets.
    mutating func skipName() -> Bool {
        let start = index
        if take("<") {
            while let byte = next, byte != UInt8(ascii: ">") { index += 1 }
            return take(">")
        }
        while let byte = next, (byte | 0x20) >= UInt8(ascii: "a"), (byte | 0x20) <= UInt8(ascii: "z") { index += 1 }
        return index >= start + 3
    }

    mutating func number(_ range: ClosedRange<Int>) -> Int? {
        var number = 0
        let start = index
        while let byte = next, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9"), index - start < 4 {
            number = number * 10 + Int(byte - UInt8(ascii: "0"))
            index += 1
        }
        return index > start && range.contains(number) ? number : nil
    }

    /// Seconds: `[+-]hh[:mm[:ss]]`.
    mutating func time(hoursMax: Int) -> Int64? {
        let isNegative = take("-")
        if !isNegative { _ = take("+") }
        guard let hours = number(0...hoursMax) else { return nil }
        var seconds = hours * 3600
        if take(":") {
            guard let minutes = number(0...59) else { return nil }
            seconds += minutes * 60
            if take(":") {
                guard let rest = number(0...59) else { return nil }
                seconds += rest
            }
        }
        return Int64(isNegative ? -seconds : seconds)
    }

    mutating func change() -> TimeZoneRule.Change? {
        guard take(",") else { return nil }
        let day: TimeZoneRule.Change.Day
        if take("M") {
            guard let month = number(1...12), take("."), let week = number(1...5), take("."), let weekday = number(0...6) else { return nil }
            day = .ofWeek(month: month, week: week, weekday: weekday)
        } else if take("J") {
            guard let number = number(1...365) else { return nil }
            day = .withoutLeapDays(number)
        } else {
            guard let number = number(0...365) else { return nil }
            day = .ofYear(number)
        }
        guard take("/") else { return TimeZoneRule.Change(day: day, seconds: 7200) }
        guard let seconds = time(hoursMax: 167) else { return nil }
        return TimeZoneRule.Change(day: day, seconds: seconds)
    }
}
