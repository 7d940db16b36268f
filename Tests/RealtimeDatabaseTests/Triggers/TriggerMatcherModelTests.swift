import Glibc
import Testing
import Tree

@testable import RealtimeDatabase

/// The matcher against the model: random trees, patterns and writes. Comparisons: rounds times writes times functions.
///
///     HEARTH_FUZZ_ROUNDS=100000 HEARTH_FUZZ_SEED=1 scripts/test unit --filter TriggerMatcherModel
@Suite("TriggerMatcherModel")
struct TriggerMatcherModelTests {
    private static let writesOfTree = 12
    private static let functions = 12

    @Test("every event of random writes is raised once, with both values, and no other")
    func agreesWithModel() throws { try compare(limits: TriggerLimits(), rounds: 1500) }

    @Test("values too large for an event change what it carries, and not which events there are")
    func agreesWithModelWhenTruncated() throws {
        try compare(limits: TriggerLimits(functionsMax: 1, eventBytesMax: 8, isStrict: false), rounds: 500)
    }

    private func compare(limits: TriggerLimits, rounds: Int) throws {
        let rounds = Self.number("HEARTH_FUZZ_ROUNDS") ?? rounds
        let seed = UInt64(Self.number("HEARTH_FUZZ_SEED") ?? Int.random(in: 1...1_000_000_000))
        var dice = TriggerDice(seed: seed)
        var events = 0
        for round in 0..<rounds {
            let declarations = try dice.declarations(Self.functions)
            let matcher = TriggerMatcher(declarations)
            let tree = try TestTree(dice.node(depth: 4))
            for write in 0..<Self.writesOfTree {
                let changes = dice.changes(of: tree.value)
                let expected = TriggerModel(old: tree.value, changes: changes).events(of: declarations)
                let found = try tree.write(changes, matcher, limits)
                events += found.count
                let agrees = Self.agree(found, expected, limits)
                #expect(agrees, "seed \(seed), round \(round), write \(write): \(changes) to \(TriggerModel.text(tree.value))")
                guard agrees else {
                    let patterns = declarations.map { "\($0.function) \($0.kind) \($0.pattern)" }
                    Issue.record("found \(Set(found).subtracting(expected)), missing \(expected.subtracting(found)), patterns \(patterns)")
                    return
                }
            }
        }
        // A model that never sees an event agrees with everything.
        #expect(events > rounds, "seed \(seed)")
    }

    private static func agree(_ found: [TriggerModel.Event], _ expected: Set<TriggerModel.Event>, _ limits: TriggerLimits) -> Bool {
        guard Set(found).count == found.count else { return false }
        if limits.isStrict { return Set(found) == expected }
        let whole = Dictionary(uniqueKeysWithValues: expected.map { ([$0.function, $0.path, "\($0.change)"], $0.payload) })
        guard found.count == whole.count else { return false }
        return found.allSatisfy { event in
            guard let payload = whole[[event.function, event.path, "\(event.change)"]] else { return false }
            let bothSize = payload.utf8.count - #"{"before":,"after":}"#.utf8.count
            return event.payload == payload || event.payload == #"{"truncated":true}"# && bothSize > limits.eventBytesMax
        }
    }

    static func number(_ name: String) -> Int? { getenv(name).flatMap { Int(String(cString: $0)) } }
}
