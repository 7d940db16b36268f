import Testing

@testable import EventLoop

@Suite("memory budget")
struct MemoryBudgetTests {
    private let budget = MemoryBudget(bytesMax: 1600)

    private func charge(_ client: String = "192.0.2.1:1") -> MemoryCharge {
        MemoryCharge(budget.requests, budget.share(ofClient: customer(client)))
    }

    @Test("half is for requests, a quarter for answers and for services each")
    func parts() {
        #expect(budget.parts.map(\.bytesMax) == [800, 400, 400])
        #expect(budget.share(ofClient: customer("192.0.2.1:1")).bytesMax == 400)
        #expect(budget.share(ofPlugin: "a").bytesMax == 200)
    }

    @Test("what a charge counts is given back once, when it shrinks and when it goes")
    func givesBack() {
        var first = charge()
        #expect(first.grow(to: 100) == .granted)
        do {
            var second = charge()
            #expect(second.grow(to: 50) == .granted)
            #expect(budget.requests.bytes == 150)
        }
        #expect(budget.requests.bytes == 100)
        first.set(to: 30)
        #expect(budget.requests.bytes == 30)
        #expect(first.grow(to: 20) == .granted)
        #expect(first.bytes == 30)
        first = MemoryCharge()
        #expect(budget.requests.bytes == 0)
        #expect(first.grow(to: 1 << 40) == .granted)
        #expect(first.bytes == 0)
    }

    @Test("one charge at a time may exceed a share or the part; the next is refused and changes nothing")
    func exceeds() {
        var large = charge("192.0.2.1:1")
        #expect(large.grow(to: 500) == .granted)
        var same = charge("192.0.2.1:2")
        #expect(same.grow(to: 10) == .shareIsFull)
        #expect(same.bytes == 0)
        var other = charge("192.0.2.2:1")
        #expect(other.grow(to: 200) == .granted)
        #expect(other.grow(to: 301) == .partIsFull)
        #expect(other.bytes == 200)
        #expect(large.grow(to: 5000) == .granted)
        #expect(budget.requests.bytes == 5200)
        #expect(budget.requests.refusals == 2)
        large.set(to: 0)
        #expect(same.grow(to: 1000) == .granted)
    }

    @Test("what is there already is counted without being asked")
    func counts() {
        var first = charge()
        first.set(to: 2000)
        #expect(budget.requests.isFull)
        #expect(budget.answers.bytes == 0)
        first.set(to: 0)
        #expect(!budget.requests.isFull)
    }

    @Test("connections of one client have one share; it is forgotten with the last of them")
    func shares() {
        let first = budget.share(ofClient: customer("192.0.2.1:1000"))
        #expect(budget.share(ofClient: customer("192.0.2.1:2000")) === first)
        #expect(budget.share(ofClient: customer("192.0.2.2:1000")) !== first)
        #expect(budget.share(ofPlugin: "192.0.2.1") !== first)
        var share: MemoryShare? = budget.share(ofClient: customer("192.0.2.7:1"))
        weak let forgotten = share
        share = nil
        #expect(forgotten == nil)
        #expect(budget.share(ofClient: customer("192.0.2.7:1")).bytes == 0)
    }

    @Test("threads that take and give at the same time leave nothing behind")
    func threads() async {
        let budget = budget
        let granted = await withTaskGroup(of: Int.self) { group in
            for number in 0..<8 { group.addTask { Self.takeAndGive(budget, number) } }
            return await group.reduce(0, +)
        }
        #expect(granted > 0)
        #expect(budget.parts.map(\.bytes) == [0, 0, 0])
    }

    private static func takeAndGive(_ budget: MemoryBudget, _ number: Int) -> Int {
        var granted = 0
        for round in 0..<2000 {
            var charge = MemoryCharge(budget.requests, budget.share(ofClient: customer("192.0.2.\(number):\(round)")))
            if charge.grow(to: 150) == .granted { granted += 1 }
        }
        return granted
    }

    @Test("a hold counts for as long as somebody has it")
    func holds() {
        var hold: MemoryHold? = MemoryHold(budget.services, budget.share(ofPlugin: "a"), bytes: 70)
        #expect(budget.services.bytes == 70)
        #expect(hold?.grow(to: 90) == .granted)
        #expect(budget.services.bytes == 90)
        hold = nil
        #expect(budget.services.bytes == 0)
    }
}

/// The owner of the share, by the address of a connection.
private func customer(_ endpoint: String) -> NetworkAddress { NetworkAddress(endpoint: endpoint)?.customer ?? .unspecified }
