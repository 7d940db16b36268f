import Testing

@testable import Schedules

@Suite("The language of schedules")
struct LanguageTests {
    /// Sunday, 1 March 2026, 00:00 UTC.
    static let start = CivilDay(year: 2026, month: 3, day: 1).number * 86_400

    /// The first due times after the start of March 2026 in UTC, as `03-01 09:00`.
    static func dues(_ text: String, count: Int = 4) throws -> [String] {
        let schedule = try Schedule(parsing: text)
        var moment = start - 1
        return (0..<count).compactMap { _ in
            guard let next = schedule.next(after: moment, in: .utc) else { return nil }
            moment = next
            let time = ScheduleTimeZone.utc.text(ofMoment: next)
            return "\(time.dropFirst(5).prefix(5)) \(time.dropFirst(11).prefix(5))"
        }
    }

    @Test(
        "cron",
        arguments: [
            ("0 9 * * *", ["03-01 09:00", "03-02 09:00", "03-03 09:00", "03-04 09:00"]),
            ("*/20 8-9 * * *", ["03-01 08:00", "03-01 08:20", "03-01 08:40", "03-01 09:00"]),
            ("5,10-12 0 * * *", ["03-01 00:05", "03-01 00:10", "03-01 00:11", "03-01 00:12"]),
            ("0 9 * * mon-fri", ["03-02 09:00", "03-03 09:00", "03-04 09:00", "03-05 09:00"]),
            ("0 9 * * MON,Wed", ["03-02 09:00", "03-04 09:00", "03-09 09:00", "03-11 09:00"]),
            ("0 9 * * 7", ["03-01 09:00", "03-08 09:00", "03-15 09:00", "03-22 09:00"]),
            ("0 9 * * 0", ["03-01 09:00", "03-08 09:00", "03-15 09:00", "03-22 09:00"]),
            ("0 9 * * fri-sun", ["03-01 09:00", "03-06 09:00", "03-07 09:00", "03-08 09:00"]),
            ("0 0 1 jan,jul *", ["07-01 00:00", "01-01 00:00", "07-01 00:00", "01-01 00:00"]),
            ("0 0 29 2 *", ["02-29 00:00", "02-29 00:00", "02-29 00:00", "02-29 00:00"]),
            // Two restricted fields mean either; a star restricts nothing, also with a step.
            ("0 0 13 * fri", ["03-06 00:00", "03-13 00:00", "03-20 00:00", "03-27 00:00"]),
            ("0 0 */10 * fri", ["05-01 00:00", "07-31 00:00", "08-21 00:00", "09-11 00:00"]),
            ("0 0 10-20/5 * *", ["03-10 00:00", "03-15 00:00", "03-20 00:00", "04-10 00:00"]),
            ("0 0 * * */3", ["03-01 00:00", "03-04 00:00", "03-07 00:00", "03-08 00:00"]),
            ("59 23 31 12 *", ["12-31 23:59", "12-31 23:59", "12-31 23:59", "12-31 23:59"]),
            ("  0\t9 *  * *  ", ["03-01 09:00", "03-02 09:00", "03-03 09:00", "03-04 09:00"]),
        ])
    func cron(_ text: String, _ expected: [String]) throws { #expect(try Self.dues(text) == expected) }

    @Test(
        "the syntax of App Engine",
        arguments: [
            ("every day 09:00", ["03-01 09:00", "03-02 09:00", "03-03 09:00", "03-04 09:00"]),
            ("Every Monday 9:05", ["03-02 09:05", "03-09 09:05", "03-16 09:05", "03-23 09:05"]),
            ("every mon,wed of march 09:00", ["03-02 09:00", "03-04 09:00", "03-09 09:00", "03-11 09:00"]),
            ("1st,third monday of month 09:00", ["03-02 09:00", "03-16 09:00", "04-06 09:00", "04-20 09:00"]),
            ("2nd, third mon, wed of march,apr 17:00", ["03-09 17:00", "03-11 17:00", "03-16 17:00", "03-18 17:00"]),
            ("first sunday 10:00", ["03-01 10:00", "04-05 10:00", "05-03 10:00", "06-07 10:00"]),
            ("5th tuesday of month 00:00", ["03-31 00:00", "06-30 00:00", "09-29 00:00", "12-29 00:00"]),
            ("1,15 of month 09:00", ["03-01 09:00", "03-15 09:00", "04-01 09:00", "04-15 09:00"]),
            ("1 of jan,april,july,oct 00:00", ["04-01 00:00", "07-01 00:00", "10-01 00:00", "01-01 00:00"]),
            ("31st of month 12:00", ["03-31 12:00", "05-31 12:00", "07-31 12:00", "08-31 12:00"]),
            ("every 30 minutes from 10:00 to 11:00", ["03-01 10:00", "03-01 10:30", "03-01 11:00", "03-02 10:00"]),
            ("every 2 hours from 22:00 to 02:00", ["03-01 00:00", "03-01 02:00", "03-01 22:00", "03-02 00:00"]),
            ("every 25 mins from 23:30 to 00:30", ["03-01 00:20", "03-01 23:30", "03-01 23:55", "03-02 00:20"]),
            ("every 8 hours synchronized", ["03-01 00:00", "03-01 08:00", "03-01 16:00", "03-02 00:00"]),
            ("every 30 minutes synchronized", ["03-01 00:00", "03-01 00:30", "03-01 01:00", "03-01 01:30"]),
        ])
    func english(_ text: String, _ expected: [String]) throws { #expect(try Self.dues(text) == expected) }

    @Test("an interval counts from the end of a run", arguments: [("every 5 minutes", 300), ("every 1 hour", 3600), ("every 24 hours", 86_400)])
    func intervals(_ text: String, _ seconds: Int64) throws {
        let schedule = try Schedule(parsing: text)
        #expect(schedule.isInterval && schedule.next(after: 1000, in: .utc) == 1000 + seconds)
    }

    @Test(
        "what is wrong is told with its place",
        arguments: [
            ("", "column 1: expected \"every\", a day of the month such as 1 or 15, or a word such as first or 1st, found the end"),
            (
                "* * * *",
                "column 8: expected a day of the week: five fields, minute, hour, day of the month, month and day of the week, found the end"
            ),
            ("* * * * * *", "column 11: expected the end after five fields, found \"*\""),
            ("60 * * * *", "column 1: expected a minute from 0 to 59, found \"60\""),
            ("0 25 * * *", "column 3: expected an hour from 0 to 23, found \"25\""),
            ("0 9,12, * * *", "column 8: expected an hour from 0 to 23, found the end"),
            ("0 0 * * mon-foo", "column 13: expected a day of the week from 0 to 7 or sun-sat, found \"foo\""),
            ("0 0 1 janu *", "column 7: expected a month from 1 to 12 or jan-dec, found \"janu\""),
            ("0 17-9 * * *", "column 3: expected a range that ends after its start, found \"17-9\""),
            ("5/15 * * * *", "column 2: expected a range before the step, as in 5-59/15, found \"/15\""),
            ("*/0 * * * *", "column 3: expected a step from 1 to 59, found \"0\""),
            ("*/x * * * *", "column 3: expected a step from 1 to 59, found \"x\""),
            ("0 0 30 2 *", "the schedule is never due: no month has such a day"),
            ("31 of feb,april 00:00", "the schedule is never due: no month has such a day"),
            ("every", "column 6: expected a number, \"day\" or a day of the week, found the end"),
            ("every 5", "column 8: expected minutes or hours, found the end"),
            ("every 0 minutes", "column 7: expected a number from 1 on, found \"0\""),
            ("every 5 seconds", "column 9: expected minutes or hours, found \"seconds\""),
            ("every 7 minutes synchronized", "an interval with \"synchronized\" must divide 24 hours without a rest, as 5 minutes or 8 hours do"),
            ("every 9000 hours", "an interval has at most 366 days"),
            ("every 5 minutes from 10:00", "column 27: expected \"to\", found the end"),
            ("every 5 minutes from 10:00 to 10:00", "column 31: expected another time than the first one, found \"10:00\""),
            ("every 5 minutes at 10:00", "column 17: expected \"from\", \"synchronized\" or the end, found \"at\""),
            ("every day", "column 10: expected a time from 00:00 to 23:59, found the end"),
            ("every day 24:00", "column 11: expected a time from 00:00 to 23:59, found \"24:00\""),
            ("every monday,noday 09:00", "column 14: expected a day of the week, found \"noday\""),
            ("every day of mai 09:00", "column 14: expected \"month\" or a month, found \"mai\""),
            ("1st day 09:00", "column 5: expected \"of\" or a day of the week, found \"day\""),
            ("6th monday 09:00", "column 5: expected \"of\": a month has at most five of one day of the week, found \"monday\""),
            ("32 of month 09:00", "column 1: expected \"every\", a day of the month such as 1 or 15, or a word such as first or 1st, found \"32\""),
            ("every day 09:00 10:00", "column 17: expected the end, found \"10:00\""),
            ("@daily", "column 1: expected a minute from 0 to 59, found \"@daily\""),
            ("every däy 09:00", "column 8: expected printable characters of ASCII, found \"\\u{e4}\""),
        ])
    func errors(_ text: String, _ expected: String) {
        #expect { try Schedule(parsing: text) } throws: { error in
            let found = "\(error)"
            if found != expected { Issue.record("\(text): \(found)") }
            return found == expected
        }
    }

    @Test("a text that is too long is refused")
    func length() {
        #expect(throws: ScheduleError("a schedule has at most 500 bytes, this one has 509")) {
            try Schedule(parsing: "0 0 * * " + Array(repeating: "1", count: 251).joined(separator: ","))
        }
    }
}
