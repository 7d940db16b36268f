import EventLoop
import Glibc
import Testing
import Tree

@testable import EventDelivery
@testable import RealtimeDatabase

/// Writes, failures, crashes of workers, of the store and of the host in random order: every event is done at least once or is a
/// dead letter, and the events of a path begin in order.
///
///     HEARTH_SIMULATION_ROUNDS=1000 HEARTH_SIMULATION_SEED=1 scripts/test unit --filter DeliverySimulation
@Suite("DeliverySimulation", .serialized)
struct DeliverySimulationTests {
    @Test("no event is lost and no path out of order")
    func loses() throws {
        let rounds = Self.number("HEARTH_SIMULATION_ROUNDS") ?? 30
        let first = UInt64(Self.number("HEARTH_SIMULATION_SEED") ?? Int.random(in: 1...1_000_000_000))
        for seed in first..<first + UInt64(rounds) { try simulate(seed: seed) }
    }

    private struct Generator: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ (state >> 33)
        }
    }

    private func simulate(seed: UInt64) throws {
        var random = Generator(state: seed)
        let bench = try DeliveryBench(
            DeliveryBench.settings {
                $0.loadedCountMax = 6
                $0.loadedOfPathMax = 2
                $0.heldCountMax = 12
                $0.retries = RetrySchedule(firstMilliseconds: 1, mostMilliseconds: 2)
            }, functions: ["f", "g"])
        bench.targets["g"]?.isRetried = true
        for target in bench.targets.values { target.answer = { _ in nil } }
        var raised = 0
        for _ in 0..<150 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<3:
                let count = Int.random(in: 1...12, using: &random)
                raised += count
                try bench.outbox.raise(
                    (0..<count).map { _ in (Bool.random(using: &random) ? "f" : "g", "/\(Int.random(in: 0..<5, using: &random))") })
            case 3..<8:
                for target in bench.targets.values.sorted(by: { $0.isRetried && !$1.isRetried }) where !target.open.isEmpty {
                    target.finish(Int.random(in: 0..<target.open.count, using: &random), Self.result(&random))
                }
            case 8: bench.outbox.failures = Int.random(in: 0...2, using: &random)
            default: if Int.random(in: 0..<4, using: &random) == 0 { try bench.restart() }
            }
            for _ in 0..<Int.random(in: 0...3, using: &random) { bench.loop.runOnce() }
        }
        bench.outbox.failures = 0
        for target in bench.targets.values {
            target.answer = { _ in .succeeded }
            while !target.open.isEmpty { target.finish(0, .succeeded) }
        }
        try bench.runUntilDone()
        try check(bench, raised: raised, seed: seed)
    }

    private static func result(_ random: inout Generator) -> AttemptResult {
        switch Int.random(in: 0..<12, using: &random) {
        case 0, 1: .failed("internal: by chance")
        case 2: .interrupted("the worker ended")
        case 3: .refused(afterMilliseconds: 1)
        default: .succeeded
        }
    }

    private func check(_ bench: DeliveryBench, raised: Int, seed: UInt64) throws {
        let succeeded = bench.targets.values.flatMap(\.succeeded)
        let dead = try bench.outbox.deadLetters().map(\.event)
        #expect(Set((succeeded + dead).map(\.id)).count == raised, "seed \(seed)")
        for target in bench.targets.values {
            for (path, events) in Dictionary(grouping: target.started, by: \.path) {
                // Events of one path start in order. A restarted host may start again what it had not recorded as done.
                var newest: UInt64 = 0
                var seen: Set<UInt64> = []
                for event in events where seen.insert(event.sequence).inserted {
                    #expect(event.sequence > newest, "seed \(seed), \(path)")
                    newest = event.sequence
                }
            }
        }
    }

    private static func number(_ name: String) -> Int? { getenv(name).flatMap { Int(String(cString: $0)) } }
}
