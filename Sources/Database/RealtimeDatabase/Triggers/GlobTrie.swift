/// Globs as a tree of their characters, so that a key is matched with all of them at once.
struct GlobTrie: Sendable {
    private struct Node: Sendable {
        var children: [UInt8: Int] = [:]
        /// The child for a star.
        var star: Int?
        /// Whether this node is such a child.
        var isStar = false
        var target: Int?
    }

    private var nodes: [Node] = []

    var isEmpty: Bool { nodes.isEmpty }

    mutating func insert(_ glob: Glob, target: Int) {
        if nodes.isEmpty { nodes.append(Node()) }
        var place = 0
        for (index, part) in glob.parts.enumerated() {
            if index > 0 { place = starChild(of: place) }
            for byte in part { place = child(of: place, byte) }
        }
        nodes[place].target = target
    }

    private mutating func starChild(of place: Int) -> Int {
        if let star = nodes[place].star { return star }
        nodes.append(Node(isStar: true))
        nodes[place].star = nodes.count - 1
        return nodes.count - 1
    }

    private mutating func child(of place: Int, _ byte: UInt8) -> Int {
        if let child = nodes[place].children[byte] { return child }
        nodes.append(Node())
        nodes[place].children[byte] = nodes.count - 1
        return nodes.count - 1
    }

    /// The target of a glob that is equal to this one.
    func target(of glob: Glob) -> Int? {
        guard !nodes.isEmpty else { return nil }
        var place: Int? = 0
        for (index, part) in glob.parts.enumerated() {
            if index > 0 { place = place.flatMap { nodes[$0].star } }
            for byte in part { place = place.flatMap { nodes[$0].children[byte] } }
        }
        return place.flatMap { nodes[$0].target }
    }

    /// Calls `body` once with the target of each glob that matches `key`.
    func forEach(matching key: String, _ body: (Int) -> Void) {
        guard !nodes.isEmpty else { return }
        var places: Set<Int> = []
        enter(0, &places)
        for byte in key.utf8 {
            var next: Set<Int> = []
            for place in places {
                if nodes[place].isStar { enter(place, &next) }
                if let child = nodes[place].children[byte] { enter(child, &next) }
            }
            places = next
            if places.isEmpty { return }
        }
        for place in places.sorted() {
            if let target = nodes[place].target { body(target) }
        }
    }

    private func enter(_ place: Int, _ places: inout Set<Int>) {
        places.insert(place)
        if let star = nodes[place].star { places.insert(star) }
    }
}
