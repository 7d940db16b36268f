import Testing

@testable import Messaging

/// The order of messages to the push services.
@Suite struct ForwardScheduleTests {
    private typealias Service = ForwardSchedule.Service

    private func service(_ name: String) -> Service { Service(platform: .web, name: name) }

    @Test func oneServiceHasAShare() {
        var schedule = ForwardSchedule()
        for device in 1...200 { schedule.add(Int64(device), service("a"), now: 0) }
        #expect(begin(&schedule).count == ForwardSchedule.poorWidth, "nothing is known of it yet")
    }

    @Test func aServiceThatAnswersInGoodTimeIsGivenMore() {
        var schedule = ForwardSchedule()
        for device in 1...200 { schedule.add(Int64(device), service("a"), now: 0) }
        for ticket in begin(&schedule) { schedule.end(ticket, .answered, now: 0) }
        #expect(begin(&schedule).count == ForwardSchedule.goodWidth)
        #expect(schedule.underWay == ForwardSchedule.goodWidth)
    }

    @Test func servicesThatDoNotAnswerLeaveRoomForThoseThatDo() {
        var schedule = ForwardSchedule()
        schedule.add(1, service("good"), now: 0)
        for ticket in begin(&schedule) { schedule.end(ticket, .answered, now: 0) }
        for device in 2...1001 { schedule.add(Int64(device), service("dead\(device)"), now: 0) }
        #expect(begin(&schedule).count == ForwardSchedule.poorWidthMax)
        for device in 1002...1101 { schedule.add(Int64(device), service("good"), now: 0) }
        #expect(begin(&schedule).count == ForwardSchedule.goodWidth)
        #expect(schedule.underWay <= ForwardSchedule.widthMax)
    }

    @Test func servicesTakeTurns() {
        var schedule = ForwardSchedule()
        for device in 1...3 { schedule.add(Int64(device), service("a"), now: 0) }
        schedule.add(4, service("b"), now: 0)
        var order: [Int64] = []
        while let (device, service) = schedule.next(now: 0) {
            order.append(device)
            _ = schedule.begin(service)
        }
        #expect(order == [1, 4, 2, 3])
    }

    @Test func aServiceThatFailsRestsAndIsThenAskedOnce() {
        var schedule = ForwardSchedule()
        for device in 1...10 { schedule.add(Int64(device), service("a"), now: 0) }
        for ticket in begin(&schedule) { schedule.end(ticket, .failed, now: 0) }
        #expect(schedule.next(now: 400) == nil)
        #expect(begin(&schedule, now: 1501).count == 1)
        #expect(schedule.needsTimer)
    }

    @Test func aDeviceRestsLongerEachTime() {
        var schedule = ForwardSchedule()
        var now: UInt64 = 0
        for base in [1, 2, 4, 8, 16, 32, 60, 60] as [UInt64] {
            let wait = schedule.rest(1, asked: 0, now: now)
            #expect((base * 500...base * 1500).contains(wait))
            #expect(schedule.rest(1, asked: nil, now: now) == wait, "others were under way together with it")
            schedule.add(1, service("a"), now: now)
            #expect(schedule.next(now: now) == nil)
            #expect(schedule.rested(now: now, limit: 10).isEmpty)
            now += wait
            #expect(schedule.rested(now: now, limit: 10) == [1])
        }
        schedule.didSettle(1)
        #expect(schedule.rested(now: .max, limit: 10).isEmpty && !schedule.needsTimer)
        #expect(schedule.rest(1, asked: 7, now: now) == 7000)
    }

    @Test func aDeviceWaitsOnce() {
        var schedule = ForwardSchedule()
        for _ in 1...5 { schedule.add(1, service("a"), now: 0) }
        #expect(schedule.next(now: 0)?.device == 1)
        #expect(schedule.next(now: 0) == nil)
    }

    @Test(
        "a service is whoever owns the domain",
        arguments: [
            ("https://fcm.googleapis.com/fcm/send/x", "googleapis.com"), ("https://wns2-am3p.notify.windows.com:443/w", "windows.com"),
            ("https://a.evil.example/1", "evil.example"), ("https://B.EVIL.example:8443/2", "evil.example"),
            ("http://127.0.0.1:80/x", "127.0.0.1:80"), ("http://localhost:5001/x", "localhost:5001"),
        ])
    func services(_ url: String, _ service: String) throws {
        #expect(try #require(PushAddress(url, allowsLocal: true)).service == service)
    }

    /// Begins whatever may.
    private func begin(_ schedule: inout ForwardSchedule, now: UInt64 = 0) -> [ForwardSchedule.Ticket] {
        var tickets: [ForwardSchedule.Ticket] = []
        while let (_, service) = schedule.next(now: now) { tickets.append(schedule.begin(service)) }
        return tickets
    }
}
