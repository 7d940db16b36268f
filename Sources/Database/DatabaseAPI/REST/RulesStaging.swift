import HearthJSON
import Rules
import Synchronization

/// Rules that were uploaded for later use, each with an id: the official command line uploads them first, and then chooses the one to put in
/// force (spec database 2.9). They are lost when the host stops; the rules in force are not.
final class RulesStaging: Sendable {
    private struct Shelf {
        /// Oldest first.
        var rules: [(id: String, rules: RuleSet)] = []
        var stable: String?
        var canary: String?
    }

    private let shelves = Mutex<[String: Shelf]>([:])
    private let ids = PushIDSource()
    /// The number of rulesets that are kept for a namespace.
    private static let countMax = 16

    /// Stores rules, and returns their id.
    func add(_ rules: RuleSet, namespace: String) -> String {
        let id = ids.next()
        shelves.withLock { shelves in
            var shelf = shelves[namespace] ?? Shelf()
            shelf.rules.append((id, rules))
            if shelf.rules.count > Self.countMax { shelf.rules.removeFirst() }
            shelves[namespace] = shelf
        }
        return id
    }

    /// The rules with an id.
    func rules(_ id: String, namespace: String) -> RuleSet? {
        shelves.withLock { $0[namespace]?.rules.first { $0.id == id }?.rules }
    }

    /// Stores the ids of the rules in force, and of those that are being tried.
    func label(stable: String, canary: String?, namespace: String) {
        shelves.withLock { shelves in
            shelves[namespace]?.stable = stable
            shelves[namespace]?.canary = canary
        }
    }

    /// The labels, as JSON.
    func labels(_ namespace: String) -> JSONValue {
        shelves.withLock { shelves in
            var labels = JSONObject()
            if let id = shelves[namespace]?.stable { labels["stable"] = .string(id) }
            if let id = shelves[namespace]?.canary { labels["canary"] = .string(id) }
            return .object(labels)
        }
    }

    /// The stored ids, as JSON.
    func list(_ namespace: String) -> JSONValue {
        shelves.withLock { .array(($0[namespace]?.rules ?? []).map { .object(["id": .string($0.id)]) }) }
    }
}
