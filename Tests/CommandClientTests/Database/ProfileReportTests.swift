import HearthJSON
import Testing

@testable import CommandClient

@Suite struct ProfileReportTests {
    private static func report(collapses: Bool = true, paths: some Sequence<[String]>) -> ProfileReport {
        var report = ProfileReport(collapses: collapses)
        for path in paths {
            report.add(["name": "rest-read", "path": .array(path.map { .string($0) }), "bytes": 2, "millis": 0.5, "timestamp": 1000])
        }
        return report
    }

    private static func counts(_ sums: PlaceSums) -> [String: Int] {
        Dictionary(uniqueKeysWithValues: sums.sorted.map { ($0.path.joined(separator: "/"), $0.sum.count) })
    }

    @Test func placesBesideEachOtherBecomeOne() {
        let users = (0..<26).map { ["users", "\($0)", "name"] }
        #expect(Self.counts(Self.report(paths: users).reads) == ["users/$wildcard/name": 26])
        #expect(Self.report(paths: users.dropLast()).reads.sorted.count == 25)
        #expect(Self.report(collapses: false, paths: users).reads.sorted.count == 26)
        // The root's children are never too many to be told apart.
        #expect(Self.report(paths: (0..<100).map { ["\($0)"] }).reads.sorted.count == 100)
        // Deeper paths collapse also where their ancestor does.
        let deep = (0..<30).flatMap { user in (0..<30).map { ["users", "\(user)", "\($0)"] } }
        #expect(Self.counts(Self.report(paths: deep).reads) == ["users/$wildcard/$wildcard": 900])
    }

    @Test func manyPlacesAreAddedUpOnTheWay() throws {
        let report = Self.report(paths: (0..<25_010).map { ["messages", "\($0)"] })
        let row = try #require(report.reads.sorted.first)
        #expect(report.reads.sorted.count == 1)
        #expect(row.path == ["messages", "$wildcard"])
        #expect(row.sum.count == 25_010 && row.sum.bytes == 50_020 && row.sum.averageMillis == 0.5)
    }

    @Test func whatWasLostIsNoOperation() {
        var report = ProfileReport(collapses: true)
        report.add(["name": "lost", "count": 7, "timestamp": 1000])
        report.add(["name": "concurrent-connect", "timestamp": 1500])
        report.add(["name": "listener-unlisten", "path": [], "timestamp": 1000])
        report.add(["name": "of a later version", "timestamp": 1700])
        #expect(report.lost == 7 && report.count == 3 && report.clients == (1, 0) && report.milliseconds == 700)
    }
}
