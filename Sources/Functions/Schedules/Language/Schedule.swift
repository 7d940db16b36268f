/// When a function is due, without a time zone.
package struct Schedule: Sendable, Equatable {
    package enum Kind: Sendable, Equatable {
        /// So many seconds after the end of the last run.
        case interval(seconds: Int64)
        /// At times of days.
        case calendar(ScheduleDays, ScheduleTimes)
    }

    package let kind: Kind

    /// The most bytes of a schedule's text.
    package static let textBytesMax = 500
    /// More days than lie between two matching ones: 29 February is on a given weekday every 40 years at least.
    private static let daysMax = 15_000
    /// More changes of a zone's offset than in this time.
    private static let segmentsMax = 1000

    /// Parses unix-cron, such as `0 9 * * mon-fri`, or the syntax of App Engine, such as `every day 09:00`.
    ///
    /// - Throws: the place, what was expected there, and what was found.
    package init(parsing text: String) throws(ScheduleError) {
        guard text.utf8.count <= Self.textBytesMax else {
            throw ScheduleError("a schedule has at most \(Self.textBytesMax) bytes, this one has \(text.utf8.count)")
        }
        var reader = try ScheduleReader(text)
        kind = try reader.looksLikeEnglish ? reader.english() : reader.cron()
        if case .calendar = kind, next(after: 0, in: .utc) == nil { throw ScheduleError("the schedule is never due: no month has such a day") }
    }

    /// Whether due times count from the end of the last run.
    package var isInterval: Bool { if case .interval = kind { true } else { false } }

    /// The first due time after `moment`, in seconds since 1970; for an interval, of a run that ended at `moment`. Nil if there is none.
    ///
    /// A schedule that names hours is due once for each time that a clock without daylight saving would show: in the hour that clocks skip, at the
    /// moment after it; in the hour that they repeat, the first time. A schedule of every hour goes by the hours that really pass.
    package func next(after moment: Int64, in zone: ScheduleTimeZone) -> Int64? {
        switch kind {
        case .interval(let seconds): return moment + seconds
        case .calendar(let days, let times):
            return times.isEveryHour ? nextByHours(after: moment, in: zone, days, times) : nextByClock(after: moment, in: zone, days, times)
        }
    }

    private func nextByClock(after moment: Int64, in zone: ScheduleTimeZone, _ days: ScheduleDays, _ times: ScheduleTimes) -> Int64? {
        var minute = (moment + zone.segment(at: moment).offset).floorDivided(by: 60) + 1
        while let found = Self.minute(from: minute, days, times) {
            let due = zone.moment(ofLocal: found * 60)
            if due > moment { return due }
            minute = found + 1
        }
        return nil
    }

    private func nextByHours(after moment: Int64, in zone: ScheduleTimeZone, _ days: ScheduleDays, _ times: ScheduleTimes) -> Int64? {
        var segment = zone.segment(at: moment + 1)
        var from = moment + 1
        for _ in 0..<Self.segmentsMax {
            guard let found = Self.minute(from: (from + segment.offset + 59).floorDivided(by: 60), days, times) else { return nil }
            let due = found * 60 - segment.offset
            if due < segment.end { return due }
            from = segment.end
            segment = zone.segment(at: from)
        }
        return nil
    }

    /// The first matching minute from `start` on, both in minutes since 1970 of a clock without a time zone.
    private static func minute(from start: Int64, _ days: ScheduleDays, _ times: ScheduleTimes) -> Int64? {
        var number = start.floorDivided(by: 1440)
        var minute = Int(start - number * 1440)
        var day = CivilDay(number: number)
        for _ in 0..<daysMax {
            let length = CivilDay.length(ofMonth: day.month, year: day.year)
            if days.has(month: day.month) {
                if days.has(day, weekday: CivilDay.weekday(ofNumber: number)), let time = times.next(from: minute) {
                    return number * 1440 + Int64(time)
                }
                (number, day.day) = (number + 1, day.day + 1)
            } else {
                (number, day.day) = (number + Int64(length - day.day + 1), length + 1)
            }
            minute = 0
            if day.day > length {
                day.day = 1
                (day.year, day.month) = day.month == 12 ? (day.year + 1, 1) : (day.year, day.month + 1)
            }
        }
        return nil
    }
}

/// The days of a schedule.
package struct ScheduleDays: Sendable, Equatable {
    enum Rule: Sendable, Equatable {
        case all
        /// A bit for each day of the month, and one for each day of the week; both match.
        case both(ofMonth: UInt32, ofWeek: UInt8)
        /// The same, and one of them matches.
        case either(ofMonth: UInt32, ofWeek: UInt8)
        /// The first, second and so on of some days of the week in the month.
        case ordinals(UInt8, ofWeek: UInt8)
    }

    /// A bit for each month, 1 to 12.
    var months: UInt16
    var rule: Rule

    static let allMonths: UInt16 = 0x1FFE

    func has(month: Int) -> Bool { months >> UInt16(month) & 1 == 1 }

    /// Whether a day of a month that ``has(month:)`` matches.
    func has(_ day: CivilDay, weekday: Int) -> Bool {
        switch rule {
        case .all: true
        case .both(let ofMonth, let ofWeek): ofMonth >> UInt32(day.day) & 1 == 1 && ofWeek >> UInt8(weekday) & 1 == 1
        case .either(let ofMonth, let ofWeek): ofMonth >> UInt32(day.day) & 1 == 1 || ofWeek >> UInt8(weekday) & 1 == 1
        case .ordinals(let ordinals, let ofWeek):
            ofWeek >> UInt8(weekday) & 1 == 1 && ordinals >> UInt8((day.day - 1) / 7 + 1) & 1 == 1
        }
    }
}

/// The times of a day at which a schedule is due, in minutes.
package enum ScheduleTimes: Sendable, Equatable {
    /// A bit for each hour and for each minute.
    case fields(hours: UInt32, minutes: UInt64)
    /// Every `step` minutes from `first` to `last`, which is on the next day if it is less.
    case steps(first: Int, step: Int, last: Int)

    static let allHours: UInt32 = 0xFF_FFFF
    static let allMinutes: UInt64 = 0xFFF_FFFF_FFFF_FFFF

    /// Whether the times of all hours are the same, so that the schedule does not name hours.
    var isEveryHour: Bool {
        switch self {
        case .fields(let hours, _): hours == Self.allHours
        case .steps(let first, let step, let last): first == 0 && last == 1439 && 60 % step == 0
        }
    }

    /// The first time of the day from `minute` on.
    func next(from minute: Int) -> Int? {
        switch self {
        case .fields(let hours, let minutes):
            let hour = minute / 60
            let rest = minutes & UInt64.max << UInt64(minute % 60)
            if hours >> UInt32(hour) & 1 == 1, rest != 0 { return hour * 60 + rest.trailingZeroBitCount }
            let later = hours & UInt32.max << UInt32(hour + 1)
            return later == 0 ? nil : later.trailingZeroBitCount * 60 + minutes.trailingZeroBitCount
        case .steps(let first, let step, let last):
            if last >= first { return Self.next(from: minute, first, step, last) }
            // The part after midnight began on the day before.
            let early = Self.next(from: minute + 1440, first, step, last + 1440).map { $0 - 1440 }
            return early.flatMap { $0 < 1440 ? $0 : nil } ?? Self.next(from: minute, first, step, 1439)
        }
    }

    private static func next(from minute: Int, _ first: Int, _ step: Int, _ last: Int) -> Int? {
        let time = minute <= first ? first : first + (minute - first + step - 1) / step * step
        return time <= last ? time : nil
    }
}
