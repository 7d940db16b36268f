import Tree

/// The patterns of functions as a tree, in which patterns with the same beginning share nodes.
///
/// A walk is at several nodes at the same time, because a key may match a literal, a glob and a wildcard. No node is reached twice, because a
/// pattern has at most one `**`.
struct TriggerTrie: Sendable {
    struct Node: Sendable {
        /// The children for a single key, in key order.
        var literals: [(key: String, node: Int)] = []
        /// The child for any key.
        var any: Int?
        var globs = GlobTrie()
        /// The child for `**`: entered without a key, it remains for any number of keys.
        var many: Int?
        /// Whether a walk may remain at this node with the next key.
        var isMany = false
        /// The declarations whose patterns end here.
        var terminals: [Int] = []
        /// For nodes from a `**` on: the declarations whose patterns end here or below.
        var reachable: [Int] = []
    }

    private(set) var nodes: [Node] = [Node()]
    let declarations: [TriggerDeclaration]
    /// The nodes of a walk at the root.
    private(set) var start: [Int] = []

    init(_ declarations: [TriggerDeclaration]) {
        self.declarations = declarations
        for index in declarations.indices { insert(declarations[index].pattern, index) }
        start = withMany([0])
    }

    private mutating func insert(_ pattern: PathPattern, _ declaration: Int) {
        var place = 0
        for (index, segment) in pattern.segments.enumerated() {
            place = child(of: place, segment.shape)
            if let many = pattern.manyIndex, index >= many { nodes[place].reachable.append(declaration) }
        }
        nodes[place].terminals.append(declaration)
    }

    private mutating func child(of place: Int, _ shape: PathPattern.Shape) -> Int {
        switch shape {
        case .literal(let key):
            let slot = Self.slot(of: key, in: nodes[place].literals)
            if slot < nodes[place].literals.count, KeyOrder.areEqual(nodes[place].literals[slot].key, key) {
                return nodes[place].literals[slot].node
            }
            nodes[place].literals.insert((key, add(Node())), at: slot)
            return nodes.count - 1
        case .any:
            if let any = nodes[place].any { return any }
            nodes[place].any = add(Node())
        case .glob(let glob):
            if let known = nodes[place].globs.target(of: glob) { return known }
            nodes[place].globs.insert(glob, target: add(Node()))
        case .many:
            if let many = nodes[place].many { return many }
            nodes[place].many = add(Node(isMany: true))
        }
        return nodes.count - 1
    }

    private mutating func add(_ node: Node) -> Int {
        nodes.append(node)
        return nodes.count - 1
    }

    /// The position of the first literal that does not precede `key`.
    private static func slot(of key: String, in literals: [(key: String, node: Int)]) -> Int {
        var low = 0
        var high = literals.count
        while low < high {
            let middle = (low + high) / 2
            if KeyOrder.precedes(literals[middle].key, key) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    // MARK: Walking

    /// The nodes of a walk after `key`.
    func advance(_ places: [Int], _ key: String) -> [Int] {
        var next: [Int] = []
        for place in places {
            if nodes[place].isMany { next.append(place) }
            if let any = nodes[place].any { next.append(any) }
            let slot = Self.slot(of: key, in: nodes[place].literals)
            if slot < nodes[place].literals.count, KeyOrder.areEqual(nodes[place].literals[slot].key, key) {
                next.append(nodes[place].literals[slot].node)
            }
            nodes[place].globs.forEach(matching: key) { next.append($0) }
        }
        return withMany(next)
    }

    private func withMany(_ places: [Int]) -> [Int] {
        var all = places
        for place in places {
            if let many = nodes[place].many { all.append(many) }
        }
        return all
    }

    /// Whether the walk can continue with any key, and not only with literals.
    func leadsOnWithAnyKey(_ places: [Int]) -> Bool {
        places.contains { nodes[$0].any != nil || nodes[$0].isMany || !nodes[$0].globs.isEmpty }
    }

    /// The first literal from `key` on (or after it) with which the walk can continue.
    func firstLiteral(_ places: [Int], from key: String?, isAfter: Bool) -> String? {
        var first: String?
        for place in places {
            let literals = nodes[place].literals
            var slot = key.map { Self.slot(of: $0, in: literals) } ?? 0
            if isAfter, let key, slot < literals.count, KeyOrder.areEqual(literals[slot].key, key) { slot += 1 }
            guard slot < literals.count else { continue }
            if let found = first, KeyOrder.precedes(found, literals[slot].key) { continue }
            first = literals[slot].key
        }
        return first
    }

    /// The nodes from which a declaration outside of `claimed` can still be reached.
    func open(_ places: [Int], claimed: Set<Int>) -> [Int] {
        places.filter { place in
            let reachable = nodes[place].reachable
            return reachable.isEmpty || !reachable.allSatisfy(claimed.contains)
        }
    }
}
