import HearthJSON

/// Parses a body directly into nodes, in one pass and without an intermediate JSON tree.
///
/// Simple values are parsed here; numbers with more than 18 digits and strings with escapes go to the parser of `HearthJSON`.
struct DraftParser {
    /// The location of a server value. Its keys are collected on the way out, innermost first.
    struct Found {
        var keys: [String]
        /// Nil for the server time as a priority.
        var value: PendingServerValue?
        /// The number of the member of the innermost object read so far that contains it.
        var owner: Int
    }

    let base: UnsafePointer<UInt8>
    let count: Int
    let limits: DraftLimits
    var position = 0
    var found: [Found] = []
    private var leafBytes = 0
    private var leafCount = 0
    private var nodeCount = 0
    private var nesting = 0
    /// Initial capacity for the members of an object: most have no more, and growing copies them.
    private static let membersExpected = 4
    /// Whether a later member replaced one of the same name, so that leaves must be counted again.
    var hasDuplicates = false

    init(_ text: UnsafeBufferPointer<UInt8>, limits: DraftLimits) throws(NodeError) {
        guard let base = text.baseAddress, text.count > 0 else { throw NodeError(kind: .noData) }
        self.base = base
        count = text.count
        self.limits = limits
        skipWhitespace()
        guard position < count else { throw NodeError(kind: .noData) }
    }

    var text: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: base, count: count) }

    /// The draft of `node`, with everything found since the last draft.
    mutating func draft(of node: Node) -> Draft {
        defer {
            found = []
            leafBytes = 0
            leafCount = 0
            hasDuplicates = false
        }
        return Draft(
            node: node, found: found, leafBytes: hasDuplicates ? node.leafBytes : leafBytes,
            leafCount: hasDuplicates ? node.leafCount : leafCount)
    }

    /// Checks that nothing follows the value.
    mutating func end() throws(NodeError) {
        skipWhitespace()
        guard position == count else { throw NodeError(kind: .malformed) }
    }

    @inline(__always)
    func peek() -> UInt8 { position < count ? base[position] : 0 }

    @inline(__always)
    mutating func skipWhitespace() {
        while position < count {
            let byte = base[position]
            guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return }
            position += 1
        }
    }

    @inline(__always)
    mutating func expect(_ byte: UInt8) throws(NodeError) {
        guard peek() == byte else { throw NodeError(kind: .malformed) }
        position += 1
    }

    /// Parses the value at the position, which is `depth` levels below the root.
    mutating func value(depth: Int) throws(NodeError) -> Node {
        switch peek() {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "n"):
            try literal("null")
            return .empty
        default:
            let leaf = try leaf()
            leafBytes += leaf.sizeBytes
            leafCount += 1
            return Node(leaf)
        }
    }

    private mutating func enter(_ opening: UInt8) throws(NodeError) {
        position += 1
        nesting += 1
        // Virtual members nest objects without a deeper path; a valid body has at most one of them per level.
        guard nesting <= 2 * limits.depthMax + 4 else { throw NodeError(kind: .tooDeep(levelsMax: limits.depthMax)) }
        skipWhitespace()
    }

    /// Continues after a value in a container: true if another follows, false if the container has ended.
    private mutating func goesOn(until closing: UInt8) throws(NodeError) -> Bool {
        skipWhitespace()
        if peek() == UInt8(ascii: ",") {
            position += 1
            skipWhitespace()
            return true
        }
        try expect(closing)
        nesting -= 1
        return false
    }

    private mutating func array(depth: Int) throws(NodeError) -> Node {
        try enter(UInt8(ascii: "["))
        guard peek() != UInt8(ascii: "]") else { return try closeEmpty() }
        try checkDepth(depth + 1)
        var children: [Node.Child] = []
        var index = 0
        repeat {
            let before = found.count
            let node = try value(depth: depth + 1)
            if !node.isEmpty {
                let key = String(index)
                try countNode()
                children.append(Node.Child(key: key, node: node))
                own(from: before, key, index)
            }
            index += 1
        } while try goesOn(until: UInt8(ascii: "]"))
        return Node(full: children, priority: nil)
    }

    private mutating func object(depth: Int) throws(NodeError) -> Node {
        try enter(UInt8(ascii: "{"))
        guard peek() != UInt8(ascii: "}") else { return try closeEmpty() }
        var children: [Node.Child] = []
        var hasEmpty = false
        var virtual: VirtualMembers?
        let before = found.count
        repeat {
            let start = position
            switch try key() {
            case .child(let key):
                try checkDepth(depth + 1)
                let first = found.count
                let node = try value(depth: depth + 1)
                if found.count > first { own(from: first, key, children.count) }
                if node.isEmpty { hasEmpty = true }
                if children.isEmpty { children.reserveCapacity(Self.membersExpected) }
                try countNode()
                children.append(Node.Child(key: key, node: node))
            case .virtual(let name):
                var members = virtual ?? VirtualMembers()
                try member(name, of: &members, depth: depth, foundBefore: before, hasChildren: !children.isEmpty)
                virtual = members
            case .invalid:
                throw NodeError.badKey(at: start, in: text.span)
            }
        } while try goesOn(until: UInt8(ascii: "}"))
        let sorted = ChildList.sorted(children)
        if sorted.count < children.count { forgetReplaced(among: children, foundBefore: before) }
        guard let virtual else { return hasEmpty ? Node(sorted: sorted) : Node(full: sorted, priority: nil) }
        return try virtual.node(children: sorted, hasChildren: !children.isEmpty, parser: &self)
    }

    /// Drops the server values of members that a later member of the same name replaces.
    private mutating func forgetReplaced(among children: [Node.Child], foundBefore: Int) {
        hasDuplicates = true
        guard found.count > foundBefore else { return }
        let staying = Set(ChildList.positions(children))
        // Server values in the object's own `.value` belong to no member.
        let own = found[foundBefore...].filter { $0.keys.isEmpty || staying.contains($0.owner) }
        found.replaceSubrange(foundBefore..., with: own)
    }

    /// Prefixes the paths of all server values since `first` with `key`, the name of member number `owner`.
    private mutating func own(from first: Int, _ key: String, _ owner: Int) {
        for index in first..<found.count {
            found[index].keys.append(key)
            found[index].owner = owner
        }
    }

    private mutating func closeEmpty() throws(NodeError) -> Node {
        position += 1
        nesting -= 1
        return .empty
    }

    private func checkDepth(_ depth: Int) throws(NodeError) {
        guard depth <= limits.depthMax else { throw NodeError(kind: .tooDeep(levelsMax: limits.depthMax)) }
    }

    /// Calls `body` and discards its counts and server values: for texts that describe a node but are not part of it.
    mutating func aside(depth: Int) throws(NodeError) -> Draft {
        let counted = (found, leafBytes, leafCount, hasDuplicates)
        found = []
        defer { (found, leafBytes, leafCount, hasDuplicates) = counted }
        let node = try value(depth: depth)
        return Draft(node: node, found: found, leafBytes: 0, leafCount: 0)
    }

    /// Counts one more value of the text.
    @inline(__always)
    mutating func countNode() throws(NodeError) {
        nodeCount += 1
        guard nodeCount <= limits.nodesMax else { throw NodeError(kind: .tooManyNodes) }
    }

    /// Counts a leaf that exists only in the text's description.
    mutating func count(_ leaf: Leaf) {
        leafBytes += leaf.sizeBytes
        leafCount += 1
    }
}
