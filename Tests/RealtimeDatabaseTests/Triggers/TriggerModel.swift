import Tree

@testable import RealtimeDatabase

/// The events that a write raises, computed naively: every path of the tree before and after against every pattern.
struct TriggerModel {
    struct Event: Hashable {
        var function: String
        var path: String
        var change: TriggerKind
        var payload: String
    }

    let old: Node
    let new: Node
    let changes: [(path: Path, node: Node)]
    /// Every path whose value is another one afterwards.
    private let differing: Set<Path>

    init(old: Node, changes: [(path: Path, node: Node)]) {
        self.old = old
        self.changes = changes
        let new = changes.reduce(old) { $0.setting($1.node, at: $1.path) }
        self.new = new
        let paths = Set(Self.paths(in: old) + Self.paths(in: new))
        differing = paths.filter { Self.text(old.at($0)) != Self.text(new.at($0)) }
    }

    func events(of declarations: [TriggerDeclaration]) -> Set<Event> {
        var events: Set<Event> = []
        for declaration in declarations {
            let text = declaration.pattern.text
            let pattern = text.isEmpty ? [] : text.split(separator: "/").map(String.init)
            let matching = differing.filter { Self.matches(pattern[...], $0.segments[...]) }
            for path in pattern.contains(where: Self.isMany) ? nearest(matching, pattern) : matching {
                guard let event = event(declaration, path) else { continue }
                events.insert(event)
            }
        }
        return events
    }

    /// For a pattern with `**`: the written path if it matches, otherwise the uppermost matches on the path to it or below it.
    private func nearest(_ matching: Set<Path>, _ pattern: [String]) -> Set<Path> {
        var chosen: Set<Path> = []
        for change in changes where differing.contains(change.path) {
            if Self.matches(pattern[...], change.path.segments[...]) {
                chosen.insert(change.path)
                continue
            }
            let related = matching.filter { $0.contains(change.path) || change.path.contains($0) }
            for path in related where !related.contains(where: { $0 != path && $0.contains(path) }) { chosen.insert(path) }
        }
        return chosen
    }

    private func event(_ declaration: TriggerDeclaration, _ path: Path) -> Event? {
        let (before, after) = (old.at(path), new.at(path))
        let change: TriggerKind = before.isEmpty ? .created : after.isEmpty ? .deleted : .updated
        guard declaration.kind == .written || declaration.kind == change else { return nil }
        return Event(
            function: declaration.function, path: path.description, change: change,
            payload: "{\"before\":\(Self.text(before)),\"after\":\(Self.text(after))}")
    }

    static func text(_ node: Node) -> String { String(decoding: node.serialized(), as: UTF8.self) }

    private static func paths(in node: Node, at path: Path = .root) -> [Path] {
        [path] + node.children.flatMap { paths(in: $0.node, at: path.appending($0.key)) }
    }

    // MARK: Patterns, read again

    private static func shape(_ segment: String) -> String {
        guard segment.hasPrefix("{") else { return segment }
        let inner = segment.dropFirst().dropLast()
        return inner.firstIndex(of: "=").map { String(inner[inner.index(after: $0)...]) } ?? "*"
    }

    private static func isMany(_ segment: String) -> Bool { shape(segment) == "**" }

    private static func matches(_ pattern: ArraySlice<String>, _ keys: ArraySlice<String>) -> Bool {
        guard let first = pattern.first else { return keys.isEmpty }
        if isMany(first) { return (0...keys.count).contains { matches(pattern.dropFirst(), keys.dropFirst($0)) } }
        guard let key = keys.first else { return false }
        return matchesKey(Array(shape(first).utf8)[...], Array(key.utf8)[...]) && matches(pattern.dropFirst(), keys.dropFirst())
    }

    private static func matchesKey(_ glob: ArraySlice<UInt8>, _ key: ArraySlice<UInt8>) -> Bool {
        guard let first = glob.first else { return key.isEmpty }
        if first == UInt8(ascii: "*") {
            return (0...key.count).contains { matchesKey(glob.dropFirst(), key.dropFirst($0)) }
        }
        return key.first == first && matchesKey(glob.dropFirst(), key.dropFirst())
    }
}
