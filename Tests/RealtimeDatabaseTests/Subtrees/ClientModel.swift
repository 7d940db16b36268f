import Crypto
import Foundation
import HearthJSON
import Tree

@testable import RealtimeDatabase

/// The copy of a node that a client has: how it states it, and how it merges parts into it.
struct ClientModel {
    /// A value, or the priority of a node with children, which counts as a child of it.
    struct Entry {
        var keys: [String]
        /// The text that is hashed.
        var text: String { keys.joined(separator: "/") }
        var value: Node
    }

    let node: Node
    /// In order.
    let leaves: [Entry]

    init(_ node: Node) {
        self.node = node
        leaves = Self.leaves(of: node, [])
    }

    private static func leaves(of node: Node, _ keys: [String]) -> [Entry] {
        if node.leaf != nil { return [Entry(keys: keys, value: node)] }
        var children = node.children.map { ($0.key, $0.node) }
        if let priority = node.priority, !children.isEmpty { children.append((".priority", Node(priority.leaf))) }
        return children.sorted { KeyOrder.precedes($0.0, $1.0) }.flatMap { leaves(of: $0.1, keys + [$0.0]) }
    }

    // MARK: Hashes

    /// The ranges of the copy. `splits` is asked for each leaf but the last whether a range ends with it.
    func claim(splits: () -> Bool) throws -> RangeHashes {
        var (texts, hashes, part): ([String], [String], [Entry]) = ([], [], [])
        for (index, leaf) in leaves.enumerated() {
            part.append(leaf)
            guard index == leaves.count - 1 || splits() else { continue }
            texts.append(leaf.text)
            hashes.append(Self.sha("(\(Self.text(part[...], 0)))"))
            part = []
        }
        return try RangeHashes(texts: texts, hashes: hashes + [""])
    }

    /// The nested text of leaves that have their first keys in common.
    private static func text(_ leaves: ArraySlice<Entry>, _ depth: Int) -> String {
        guard let first = leaves.first, first.keys.count > depth else { return leaves.first.map { text($0.value) } ?? "" }
        var parts: [String] = []
        var rest = leaves
        while let next = rest.first {
            let same = rest.prefix { KeyOrder.areEqual($0.keys[depth], next.keys[depth]) }
            parts.append("\(quoted(next.keys[depth])):(\(text(same, depth + 1)))")
            rest = rest.dropFirst(same.count)
        }
        return parts.joined(separator: ",")
    }

    private static func text(_ node: Node) -> String {
        guard let leaf = node.leaf else { return "" }
        return (node.priority.map { "priority:\(text(Node($0.leaf))):" } ?? "") + text(leaf)
    }

    private static func text(_ leaf: Leaf) -> String {
        if let text = leaf.string { return "string:\(quoted(text))" }
        if let truth = leaf.boolean { return "boolean:\(truth)" }
        let digits = String(leaf.number?.bitPattern ?? 0, radix: 16)
        return "number:" + String(repeating: "0", count: 16 - digits.count) + digits
    }

    private static func quoted(_ text: String) -> String {
        "\"" + text.replacingOccurrences(of: "\\", with: "\\\\").replacingOccurrences(of: "\"", with: "\\\"") + "\""
    }

    static func sha(_ text: String) -> String { Data(Insecure.SHA1.hash(data: Data(text.utf8))).base64EncodedString() }

    // MARK: Merging

    /// The copy after the parts of a push `rm`.
    func merging(_ json: String) throws -> Node {
        var node = node
        for part in try JSONValue(parsing: json.utf8Span.span).array ?? [] {
            let value = try Node(json: part["m"] ?? .null)
            node = Self.merge(value, into: node, [], after: part["s"]?.string.map(Self.keys), upTo: part["e"]?.string.map(Self.keys))
        }
        return node
    }

    private static func keys(_ text: String) -> [String] { text.split(separator: "/").map { String($0) } }

    /// Merges a part as clients do: descends where it begins or ends, and replaces everything in between.
    private static func merge(_ update: Node, into node: Node, _ keys: [String], after start: [String]?, upTo end: [String]?) -> Node {
        let isAfter = start.map { Path($0) < Path(keys) } ?? true
        let isBefore = end.map { Path(keys) < Path($0) } ?? true
        let holdsStart = start.map { Path(keys).contains(Path($0)) } ?? false
        let holdsEnd = end.map { Path(keys).contains(Path($0)) } ?? false
        if isAfter, isBefore, !holdsEnd { return update }
        if isAfter, holdsEnd, update.leaf != nil { return update }
        if isAfter, let end, Path(keys) == Path(end) { return node.leaf != nil ? .empty : node }
        guard holdsStart || holdsEnd else { return node }
        var result = node
        for key in Set(node.children.map(\.key) + update.children.map(\.key)) {
            let child = merge(update.child(key), into: node.child(key), keys + [key], after: start, upTo: end)
            if child.hash() != node.child(key).hash() { result = result.setting(child, at: Path([key])) }
        }
        guard update.priority != nil || node.priority != nil else { return result }
        let (before, after) = (node.priority.map { Node($0.leaf) } ?? .empty, update.priority.map { Node($0.leaf) } ?? .empty)
        let priority = merge(after, into: before, keys + [".priority"], after: start, upTo: end)
        return result.settingPriority(priority.leaf.flatMap { Priority($0) }, at: .root)
    }
}
