import FuzzSupport
import Testing

@testable import Schedules

@Suite("Due times")
struct DueTimeTests {
    static func zone(_ name: String) throws -> ScheduleTimeZone { try TimeZones().zone(named: name) }

    /// The due times from the start of a day in UTC on.
    static func dues(_ text: String, _ name: String, from: (Int, Int, Int), count: Int) throws -> [String] {
        let (schedule, zone) = (try Schedule(parsing: text), try zone(name))
        var moment = CivilDay(year: from.0, month: from.1, day: from.2).number * 86_400 - 1
        var found: [String] = []
        while found.count < count, let next = schedule.next(after: moment, in: zone) {
            found.append(zone.text(ofMoment: next))
            moment = next
        }
        return found
    }

    @Test("a time that clocks skip is the moment after the gap")
    func gap() throws {
        #expect(
            try Self.dues("30 2 * * *", "Europe/Berlin", from: (2026, 3, 28), count: 3)
                == ["2026-03-28T02:30:00+01:00", "2026-03-29T03:00:00+02:00", "2026-03-30T02:30:00+02:00"])
        // Several skipped times are one moment, which is also a due time of its own.
        #expect(
            try Self.dues("*/20 1-3 * * *", "Europe/Berlin", from: (2026, 3, 29), count: 5)
                == [
                    "2026-03-29T01:00:00+01:00", "2026-03-29T01:20:00+01:00", "2026-03-29T01:40:00+01:00", "2026-03-29T03:00:00+02:00",
                    "2026-03-29T03:20:00+02:00",
                ])
        #expect(
            try Self.dues("every day 02:15", "Australia/Lord_Howe", from: (2026, 10, 2), count: 3)
                == ["2026-10-03T02:15:00+10:30", "2026-10-04T02:30:00+11:00", "2026-10-05T02:15:00+11:00"])
    }

    @Test("a time that clocks show twice is the first moment")
    func overlap() throws {
        #expect(
            try Self.dues("30 2 * * *", "Europe/Berlin", from: (2026, 10, 24), count: 3)
                == ["2026-10-24T02:30:00+02:00", "2026-10-25T02:30:00+02:00", "2026-10-26T02:30:00+01:00"])
        #expect(
            try Self.dues("every sunday 01:30", "America/New_York", from: (2026, 10, 26), count: 2)
                == ["2026-11-01T01:30:00-04:00", "2026-11-08T01:30:00-05:00"])
    }

    @Test("a schedule of every hour goes by the hours that pass")
    func everyHour() throws {
        #expect(
            try Self.dues("30 * * * *", "Europe/Berlin", from: (2026, 3, 29), count: 3)
                == ["2026-03-29T01:30:00+01:00", "2026-03-29T03:30:00+02:00", "2026-03-29T04:30:00+02:00"])
        #expect(
            try Self.dues("every 30 minutes synchronized", "Europe/Berlin", from: (2026, 10, 25), count: 5).suffix(4)
                == ["2026-10-25T02:30:00+02:00", "2026-10-25T02:00:00+01:00", "2026-10-25T02:30:00+01:00", "2026-10-25T03:00:00+01:00"])
    }

    @Test("days that a zone has left out run at the next one's start")
    func skippedDay() throws {
        #expect(
            try Self.dues("0 12 30 12 *", "Pacific/Apia", from: (2011, 12, 1), count: 2)
                == ["2011-12-31T00:00:00+14:00", "2012-12-30T12:00:00+14:00"])
    }

    /// Walks through the minutes and looks at the clock, to find due times without the arithmetic of the schedule.
    static func walked(_ schedule: Schedule, _ zone: ScheduleTimeZone, after moment: Int64, minutes: Int) -> [Int64] {
        guard case .calendar(let days, let times) = schedule.kind else { return [] }
        func isDue(_ local: Int64) -> Bool {
            let number = local.floorDivided(by: 1440)
            let (day, minute) = (CivilDay(number: number), Int(local - number * 1440))
            return days.has(month: day.month) && days.has(day, weekday: CivilDay.weekday(ofNumber: number)) && times.next(from: minute) == minute
        }
        func clock(_ minute: Int64) -> Int64 { (minute * 60 + zone.segment(at: minute * 60).offset).floorDivided(by: 60) }
        let first = moment.floorDivided(by: 60) + 1
        // The latest time that clocks have shown, from two days before.
        var latest = clock(first - 2880)
        var found: [Int64] = []
        for minute in (first - 2879)..<(first + Int64(minutes)) {
            let local = clock(minute)
            let isFound =
                if times.isEveryHour {
                    isDue(local)
                } else {
                    // Clocks that go back show nothing new, and clocks that jump show all that they skip.
                    local > latest && ((latest + 1)...local).contains(where: isDue)
                }
            latest = max(latest, local)
            if isFound, minute >= first { found.append(minute * 60) }
        }
        return found
    }

    static func randomCron(_ random: inout SeededRandom) -> String {
        func field(_ low: Int, _ high: Int) -> String {
            let (a, b) = (low + random.below(high - low + 1), low + random.below(high - low + 1))
            return switch random.below(6) {
            case 0, 1: "*"
            case 2: "*/\(1 + random.below(high))"
            case 3: "\(min(a, b))-\(max(a, b))"
            case 4: "\(min(a, b))-\(max(a, b))/\(1 + random.below(5))"
            default: "\(a),\(b)"
            }
        }
        return [field(0, 59), field(0, 23), field(1, 31), field(1, 12), field(0, 7)].joined(separator: " ")
    }

    static func randomEnglish(_ random: inout SeededRandom) -> String {
        let time = "\(random.below(24)):\(random.pick(["00", "05", "30", "59"]))"
        let other = "\(random.below(24)):\(random.pick(["01", "15", "45"]))"
        let day = random.pick(ScheduleReader.weekdays)
        return switch random.below(5) {
        case 0: "every \(1 + random.below(200)) minutes from \(time) to \(other)"
        case 1: "every \(random.pick([1, 5, 30, 60, 90, 480])) minutes synchronized"
        case 2: "every \(day),\(random.pick(ScheduleReader.weekdays)) of month \(time)"
        case 3: "\(random.pick(["1st", "second", "3rd,fifth"])) \(day) of month \(time)"
        default: "\(1 + random.below(28)),\(1 + random.below(28)) of month \(time)"
        }
    }

    @Test("are those that a walk through the minutes finds, around changes of clocks", arguments: TimeZoneTests.zones)
    func brute(_ name: String) throws {
        let zone = try Self.zone(name)
        var random = SeededRandom(seed: UInt64(name.utf8.count) &* 31)
        for round in 0..<24 {
            let text = round % 2 == 0 ? Self.randomCron(&random) : Self.randomEnglish(&random)
            guard let schedule = try? Schedule(parsing: text) else { continue }
            let change = zone.segment(at: Int64(1_262_304_000 + random.below(1_500_000_000))).end
            let around = change > 4_000_000_000 ? 1_767_225_600 : change
            let start = around - Int64(random.below(3 * 86_400))
            let minutes = 5 * 1440
            let expected = Self.walked(schedule, zone, after: start, minutes: minutes)
            var found: [Int64] = []
            var moment = start
            while let next = schedule.next(after: moment, in: zone), next < (start.floorDivided(by: 60) + 1 + Int64(minutes)) * 60 {
                guard next > moment else { break }
                found.append(next)
                moment = next
            }
            #expect(found == expected, "\(text) in \(name) after \(start)")
            // The same from any moment in between.
            let middle = start + Int64(random.below(4 * 86_400))
            #expect(schedule.next(after: middle, in: zone) == expected.first { $0 > middle } || expected.last ?? 0 <= middle)
        }
    }

    @Test("whatever is parsed is due, or refused")
    func fuzz() throws {
        let words = ["every ", "of ", "month", "mon", "1st", ",", "*", "/", "-", "minutes", " from ", " to ", "10:00", "synchronized", "59", "0"]
        let run = FuzzRun(try FuzzCorpus.load("Schedules/corpus"), words: words, bytesMax: 600, rounds: 5000)
        let complaint = run.complaint { bytes in
            guard let schedule = try? Schedule(parsing: String(decoding: bytes, as: UTF8.self)) else { return nil }
            guard let next = schedule.next(after: 1_774_700_000, in: .utc) else { return "it is never due" }
            return next > 1_774_700_000 ? nil : "it is due in the past"
        }
        #expect(complaint == nil)
    }

    @Test("a damaged zone is refused, or has an offset for every moment")
    func fuzzZones() throws {
        let run = FuzzRun(try FuzzCorpus.load("Schedules/zones"), words: ["TZif", "\0", "CET-1CEST,M3.5.0,M10.5.0/3\n"], rounds: 1000)
        let complaint = run.complaint { bytes in
            guard let zone = TimeZoneFile(bytes.span).zone(named: "fuzz") else { return nil }
            for moment: Int64 in [-4_000_000_000, 0, 1_774_700_000, 4_000_000_000] {
                let segment = zone.segment(at: moment)
                guard segment.start <= moment, moment < segment.end else { return "a segment does not hold its moment" }
                guard abs(segment.offset) <= 90_000 else { return "an offset is too large" }
                _ = zone.moment(ofLocal: moment)
            }
            return nil
        }
        #expect(complaint == nil)
    }
}
