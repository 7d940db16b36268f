import Store
import Tree

@testable import RealtimeDatabase

/// A stored tree, and beside it what it should be.
final class TestTree {
    private(set) var value: Node
    let store: any OrderedStore
    let writer: TreeWriter

    init(_ value: Node = .empty) throws {
        self.value = value
        store = try MemoryStorage().openWriter(namespace: "test")
        writer = try TreeWriter(store)
        try change { try writer.set(value, at: Path.root) }
    }

    var reader: TreeReader { writer.reader }

    func change(_ body: () throws -> Void) throws {
        try store.begin()
        try body()
        try store.commit()
    }

    /// Finds the events of a write, then does it.
    func write(
        _ changes: [(path: Path, node: Node)], _ matcher: TriggerMatcher, _ limits: TriggerLimits = TriggerLimits()
    ) throws -> [TriggerModel.Event] {
        let events = try find(changes, matcher, limits).events
        try change { for change in changes { try writer.set(change.node, at: change.path) } }
        value = changes.reduce(value) { $0.setting($1.node, at: $1.path) }
        return events
    }

    /// The events of a write that is not done.
    func find(
        _ changes: [(path: Path, node: Node)], _ matcher: TriggerMatcher, _ limits: TriggerLimits = TriggerLimits()
    ) throws -> (events: [TriggerModel.Event], cost: MatchCost) {
        var events: [TriggerModel.Event] = []
        let cost = try matcher.events(changes: changes, old: reader, limits: limits) { event in
            events.append(
                TriggerModel.Event(
                    function: event.declaration.function, path: event.path.description, change: event.change,
                    payload: String(decoding: event.payload, as: UTF8.self)))
        }
        return (events, cost)
    }
}
