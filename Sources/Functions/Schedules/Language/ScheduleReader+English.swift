/// The syntax of App Engine:
///
///     every 5 minutes
///     every 2 hours from 10:00 to 14:00
///     every 30 minutes synchronized
///     every day 09:00
///     every mon,wed of march,april 09:00
///     1st,third monday of month 09:00
///     1,15 of month 09:00
extension ScheduleReader {
    /// The longest interval, in minutes: a year.
    private static let intervalMinutesMax = 366 * 24 * 60

    mutating func english() throws(ScheduleError) -> Schedule.Kind {
        let kind: Schedule.Kind
        if take("every") {
            let isInterval = next?.text.utf8.first?.isDigit ?? false
            kind = try isInterval ? interval() : days(ordinals: nil)
        } else {
            kind = try dates()
        }
        guard next == nil else { throw unexpected("the end") }
        return kind
    }

    // MARK: Intervals

    private mutating func interval() throws(ScheduleError) -> Schedule.Kind {
        guard let count = next.flatMap({ Self.number($0.text) }), count > 0 else { throw unexpected("a number from 1 on") }
        index += 1
        let minutes: Int
        if take("minutes", "minute", "mins", "min") {
            minutes = count
        } else if take("hours", "hour") {
            minutes = count * 60
        } else {
            throw unexpected("minutes or hours")
        }
        guard minutes <= Self.intervalMinutesMax else { throw ScheduleError("an interval has at most 366 days") }
        if next == nil { return .interval(seconds: Int64(minutes) * 60) }
        let all = ScheduleDays(months: ScheduleDays.allMonths, rule: .all)
        if take("synchronized") {
            guard 1440 % minutes == 0 else {
                throw ScheduleError("an interval with \"synchronized\" must divide 24 hours without a rest, as 5 minutes or 8 hours do")
            }
            return .calendar(all, .steps(first: 0, step: minutes, last: 1439))
        }
        guard take("from") else { throw unexpected("\"from\", \"synchronized\" or the end") }
        let first = try time()
        guard take("to") else { throw unexpected("\"to\"") }
        let column = next?.column ?? 1
        let last = try time()
        guard first != last else { throw ScheduleError(column: column, expected: "another time than the first one", found: words[index - 1].text) }
        return .calendar(all, .steps(first: first, step: minutes, last: last))
    }

    // MARK: Days

    /// `1st,third monday of month 09:00`, or `1,15 of month 09:00`.
    private mutating func dates() throws(ScheduleError) -> Schedule.Kind {
        var numbers: UInt64 = 0
        repeat {
            let expected = "\"every\", a day of the month such as 1 or 15, or a word such as first or 1st"
            guard let number = next.flatMap({ Self.ordinal($0.text) }) else { throw unexpected(expected) }
            index += 1
            numbers |= 1 << UInt64(number)
        } while take(",")
        if next?.text == "of" {
            let months = try months()
            return .calendar(ScheduleDays(months: months, rule: .both(ofMonth: UInt32(numbers), ofWeek: 0x7F)), try singleTime())
        }
        guard next.flatMap({ Self.weekday($0.text) }) != nil else { throw unexpected("\"of\" or a day of the week") }
        guard numbers < 1 << 6 else { throw unexpected("\"of\": a month has at most five of one day of the week") }
        return try days(ordinals: UInt8(numbers))
    }

    /// Days of the week, perhaps months, and a time.
    private mutating func days(ordinals: UInt8?) throws(ScheduleError) -> Schedule.Kind {
        var ofWeek: UInt8 = 0
        if ordinals == nil, take("day") {
            ofWeek = 0x7F
        } else {
            repeat {
                guard let weekday = next.flatMap({ Self.weekday($0.text) }) else {
                    throw unexpected(ordinals == nil && ofWeek == 0 ? "a number, \"day\" or a day of the week" : "a day of the week")
                }
                index += 1
                ofWeek |= 1 << UInt8(weekday)
            } while take(",")
        }
        let months = next?.text == "of" ? try months() : ScheduleDays.allMonths
        let rule: ScheduleDays.Rule =
            if let ordinals {
                .ordinals(ordinals, ofWeek: ofWeek)
            } else {
                ofWeek == 0x7F ? .all : .both(ofMonth: 0xFFFF_FFFE, ofWeek: ofWeek)
            }
        return .calendar(ScheduleDays(months: months, rule: rule), try singleTime())
    }

    /// `of month`, or `of jan,july`.
    private mutating func months() throws(ScheduleError) -> UInt16 {
        index += 1
        if take("month") { return ScheduleDays.allMonths }
        var months: UInt16 = 0
        repeat {
            guard let month = next.flatMap({ Self.month($0.text) }) else { throw unexpected(months == 0 ? "\"month\" or a month" : "a month") }
            index += 1
            months |= 1 << UInt16(month)
        } while take(",")
        return months
    }

    // MARK: Times

    private mutating func singleTime() throws(ScheduleError) -> ScheduleTimes {
        let minute = try time()
        return .fields(hours: 1 << UInt32(minute / 60), minutes: 1 << UInt64(minute % 60))
    }

    /// `HH:MM`, in minutes.
    private mutating func time() throws(ScheduleError) -> Int {
        let parts = next?.text.split(separator: ":", omittingEmptySubsequences: false) ?? []
        guard parts.count == 2, (1...2).contains(parts[0].utf8.count), parts[1].utf8.count == 2, let hour = Self.number(parts[0]), hour < 24,
            let minute = Self.number(parts[1]), minute < 60
        else { throw unexpected("a time from 00:00 to 23:59") }
        index += 1
        return hour * 60 + minute
    }

    /// 1 to 31: `1`, `1st` or `first`.
    private static func ordinal(_ text: String) -> Int? {
        if let position = ["first", "second", "third", "fourth", "fifth"].firstIndex(of: text) { return position + 1 }
        var digits = Substring(text)
        for ending in ["st", "nd", "rd", "th"] where text.hasSuffix(ending) { digits = text.dropLast(2) }
        guard let number = number(digits), (1...31).contains(number) else { return nil }
        return number
    }
}
