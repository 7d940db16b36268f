import EventDelivery
import EventLoop
import FuzzSupport
import RealtimeDatabase
import Testing
import Tree

@testable import TaskQueues

/// The rate of a queue, by a clock that the test moves.
@Suite struct GateTests {
    private final class Bench {
        let loop: EventLoop
        var now: UInt64 = 1_000_000_000_000
        var begun: [UInt64] = []
        var refused: [AttemptResult] = []
        var delays: [UInt64] = []
        private(set) var gate: DispatchGate

        init(perSecond: Double) throws {
            loop = try EventLoop()
            gate = DispatchGate(loop: loop, perSecondMax: perSecond)
            gate = DispatchGate(loop: loop, perSecondMax: perSecond) { [unowned self] in now }
            gate.didBegin = { [unowned self] in delays.append($0) }
        }

        func enter(_ id: String = "a") {
            let task = NewTask(queue: "q", payload: [])
            gate.enter(
                DispatchGate.Waiter(event: OutboxEvent(task, id: id, due: 0)) { [unowned self] in
                    begun.append(now)
                } refuse: { [unowned self] in refused.append($0) })
        }

        /// Moves the clock in steps, as a loop with a timer of milliseconds does.
        func advance(milliseconds: Int, step: Int = 1) {
            for _ in 0..<milliseconds / step {
                now += UInt64(step) * 1_000_000
                gate.wake()
            }
        }
    }

    @Test func slotsAreExact() throws {
        let bench = try Bench(perSecond: 5)
        for _ in 0..<20 { bench.enter() }
        bench.advance(milliseconds: 5000)
        #expect(bench.begun.count == 20)
        for (index, time) in bench.begun.enumerated() { #expect(time == bench.begun[0] + UInt64(index) * 200_000_000) }
        #expect(bench.delays.allSatisfy { $0 == 0 })
    }

    @Test(arguments: [0.5, 3, 20, 333, 500])
    func noWindowHasMoreThanTheRate(_ rate: Double) throws {
        let bench = try Bench(perSecond: rate)
        var random = SeededRandom(seed: 7)
        for _ in 0..<400 {
            for _ in 0..<Int.random(in: 0...5, using: &random) { bench.enter() }
            bench.advance(milliseconds: Int.random(in: 1...60, using: &random))
        }
        bench.advance(milliseconds: 4000)
        let burst = max(1, rate / 5)
        for first in stride(from: 0, to: bench.begun.count, by: 7) {
            for last in stride(from: first, to: min(bench.begun.count, first + 400), by: 3) {
                let seconds = Double(bench.begun[last] - bench.begun[first]) / 1e9
                // A timer that is late makes up for at most 20 ms.
                #expect(Double(last - first + 1) <= burst + rate * (seconds + 0.02) + 1)
            }
        }
    }

    @Test func aBusyLoopLosesNoSlots() throws {
        let bench = try Bench(perSecond: 100)
        for _ in 0..<500 { bench.enter() }
        bench.advance(milliseconds: 4000, step: 16)
        // Twenty at once, then a hundred in a second.
        #expect((418...422).contains(bench.begun.count), "\(bench.begun.count)")
    }

    @Test func aPauseHoldsAllAndAnEndRefuses() throws {
        let bench = try Bench(perSecond: 1)
        bench.gate.isPaused = true
        for id in ["a", "b", "c"] { bench.enter(id) }
        bench.advance(milliseconds: 3000)
        #expect(bench.begun.isEmpty && bench.gate.waitingCount == 3)
        bench.gate.end("b", with: .refused(afterMilliseconds: 0))
        #expect(bench.refused == [.refused(afterMilliseconds: 0)] && bench.gate.waitingCount == 2)
        bench.gate.isPaused = false
        #expect(bench.begun.count == 1)
        bench.gate.end(with: .stopped)
        #expect(bench.refused.count == 2 && bench.gate.waitingCount == 0)
    }

    @Test func aNewRateCountsAtOnce() throws {
        let bench = try Bench(perSecond: 0.001)
        for _ in 0..<3 { bench.enter() }
        bench.advance(milliseconds: 1000)
        #expect(bench.begun.count == 1)
        bench.gate.setRate(perSecondMax: 10)
        bench.advance(milliseconds: 300)
        #expect(bench.begun.count == 3)
    }
}
