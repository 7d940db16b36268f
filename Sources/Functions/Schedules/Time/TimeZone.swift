/// A part of time in which the clocks of a time zone have one offset.
package struct TimeZoneSegment: Sendable, Equatable {
    /// Its first second.
    package var start: Int64
    /// The first second after it.
    package var end: Int64
    /// Seconds that the clocks are ahead of UTC.
    package var offset: Int64
}

/// A time zone: which time its clocks show at every moment.
package final class ScheduleTimeZone: Sendable {
    /// Such as `Europe/Berlin`.
    package let name: String
    /// The moments of changes, ascending.
    private let changes: [Int64]
    /// The offsets before the first change, and after each change.
    private let offsets: [Int64]
    /// For times after the last change; nil if the last offset remains.
    private let rule: TimeZoneRule?

    package static let utc = ScheduleTimeZone(name: "UTC", changes: [], offsets: [0], rule: nil)

    init(name: String, changes: [Int64], offsets: [Int64], rule: TimeZoneRule?) {
        precondition(offsets.count == changes.count + 1)
        self.name = name
        self.changes = changes
        self.offsets = offsets
        self.rule = rule
    }

    /// The segment that contains `time`, in seconds since 1970.
    package func segment(at time: Int64) -> TimeZoneSegment {
        // The number of changes at or before the time.
        var (low, high) = (0, changes.count)
        while low < high {
            let middle = (low + high) / 2
            if changes[middle] <= time { low = middle + 1 } else { high = middle }
        }
        let start = low == 0 ? Int64.min : changes[low - 1]
        guard low == changes.count, let rule else {
            return TimeZoneSegment(start: start, end: low < changes.count ? changes[low] : .max, offset: offsets[low])
        }
        var segment = rule.segment(at: time)
        segment.start = max(segment.start, start)
        return segment
    }

    /// The moment at which the clocks show a time, in seconds since 1970 of a clock without a time zone. A time that they show twice is the
    /// first moment; a time that they skip is the moment after the gap.
    package func moment(ofLocal local: Int64) -> Int64 {
        // No offset is a day or more.
        var segment = segment(at: local - 86_400)
        while true {
            let moment = local - segment.offset
            if moment < segment.end { return max(moment, segment.start) }
            segment = self.segment(at: segment.end)
        }
    }

    /// The moment with its offset, as `2026-03-29T03:00:00+02:00`.
    package func text(ofMoment moment: Int64) -> String {
        let offset = segment(at: moment).offset
        let local = moment + offset
        let number = local.floorDivided(by: 86_400)
        let day = CivilDay(number: number)
        let second = Int(local - number * 86_400)
        let date = "\(day.year)-\(Self.two(day.month))-\(Self.two(day.day))"
        let time = "\(Self.two(second / 3600)):\(Self.two(second / 60 % 60)):\(Self.two(second % 60))"
        let minutes = Int(abs(offset) / 60)
        let zone = offset == 0 ? "Z" : "\(offset < 0 ? "-" : "+")\(Self.two(minutes / 60)):\(Self.two(minutes % 60))"
        return "\(date)T\(time)\(zone)"
    }

    private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
