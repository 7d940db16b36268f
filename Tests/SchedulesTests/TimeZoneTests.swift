import Foundation
import FuzzSupport
import Testing

@testable import Schedules

@Suite("Time zones")
struct TimeZoneTests {
    static let zones = [
        "Europe/Berlin", "America/New_York", "America/Los_Angeles", "Australia/Lord_Howe", "Australia/Sydney", "Asia/Kolkata", "Africa/Casablanca",
        "America/Santiago", "Asia/Gaza", "Pacific/Apia", "Europe/Dublin", "America/Nuuk", "Pacific/Chatham", "Asia/Tehran", "Etc/GMT-14",
    ]

    @Test("offsets are those of another implementation", arguments: zones)
    func offsets(_ name: String) throws {
        let zone = try TimeZones().zone(named: name)
        let other = try #require(TimeZone(identifier: name))
        var random = SeededRandom(seed: 7)
        let year = 365 * 86_400
        var wrong: [Int64] = []
        for round in 0..<3000 {
            // From 1972 to 2060, often near a change.
            var moment = Int64(2 * year + random.below(88 * year))
            if round % 2 == 0 {
                let end = zone.segment(at: moment).end
                if end < 90 * Int64(year) { moment = end - 2 + Int64(random.below(4)) }
            }
            let offset = other.secondsFromGMT(for: Date(timeIntervalSince1970: Double(moment)))
            if zone.segment(at: moment).offset != Int64(offset) { wrong.append(moment) }
        }
        #expect(wrong.isEmpty, "\(name)")
    }

    @Test("segments follow each other")
    func segments() throws {
        let zone = try TimeZones().zone(named: "Europe/Berlin")
        var moment: Int64 = 0
        for _ in 0..<200 {
            let segment = zone.segment(at: moment)
            let next = zone.segment(at: segment.end)
            #expect(next.start == segment.end && zone.segment(at: segment.end - 1) == segment && next.offset != segment.offset)
            moment = segment.end
        }
        #expect(moment > 3_000_000_000)
    }

    @Test("days have the numbers of another implementation")
    func days() throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(secondsFromGMT: 0))
        for number in stride(from: Int64(-20_000), to: 60_000, by: 61) {
            let day = CivilDay(number: number)
            let parts = calendar.dateComponents([.year, .month, .day, .weekday], from: Date(timeIntervalSince1970: Double(number) * 86_400))
            #expect(day == CivilDay(year: parts.year ?? 0, month: parts.month ?? 0, day: parts.day ?? 0) && day.number == number)
            #expect(CivilDay.weekday(ofNumber: number) == (parts.weekday ?? 0) - 1)
        }
    }

    @Test("rules of POSIX")
    func rules() throws {
        func rule(_ text: String) -> TimeZoneRule? { TimeZoneRule(parsing: Array(text.utf8).span) }
        #expect(rule("UTC0") == TimeZoneRule(offset: 0, summer: nil))
        #expect(rule("<+0545>-5:45") == TimeZoneRule(offset: 20_700, summer: nil))
        let berlin = try #require(rule("CET-1CEST,M3.5.0,M10.5.0/3"))
        // 29 March 2026, 01:00 UTC.
        #expect(berlin.segment(at: 1_774_746_000 - 1).offset == 3600 && berlin.segment(at: 1_774_746_000).offset == 7200)
        let southern = try #require(rule("AEST-10AEDT,M10.1.0,M4.1.0/3"))
        #expect(southern.segment(at: 1_767_225_600).offset == 39_600 && southern.segment(at: 1_782_864_000).offset == 36_000)
        let always = try #require(rule("XXX3EDT4,0/0,J365/23"))
        #expect(Set((0..<36).map { always.segment(at: 1_767_225_600 + $0 * 10 * 86_400).offset }).count == 1)
        for wrong in ["", "C", "CET", "CET-25", "CET-1CEST,M13.1.0,M10.5.0", "CET-1CEST,M3.5.0", "CET-1CEST,M3.5.7,M1.1.1", "CET-1x", "<CET-1"] {
            #expect(rule(wrong) == nil, "\(wrong)")
        }
    }

    @Test("names lead nowhere else, and unknown ones are told")
    func names() {
        let zones = TimeZones()
        for name in ["../../etc/passwd", "/etc/passwd", "Europe/../../../etc/passwd", "", "Europe//Berlin", ".", String(repeating: "A", count: 65)] {
            #expect(throws: ScheduleError.self, "\(name)") { try zones.zone(named: name) }
        }
        #expect(throws: ScheduleError("this machine has no time zone Europe/Atlantis; check its name, or install tzdata")) {
            try zones.zone(named: "Europe/Atlantis")
        }
        #expect(throws: ScheduleError.self) { try zones.zone(named: "Europe") }
        #expect(throws: ScheduleError.self) { try zones.zone(named: "tzdata.zi") }
    }
}
