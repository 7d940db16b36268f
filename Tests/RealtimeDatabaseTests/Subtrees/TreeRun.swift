import HearthBytes
import Rules
import Store
import Testing
import Tree

@testable import RealtimeDatabase

/// A store and a model of it in memory; both get the same operations.
struct TreeRun {
    private var dice: TreeDice
    private let store: any OrderedStore
    private var writer: TreeWriter
    private(set) var model = Node.empty
    private var committed = Node.empty
    private var reader: TreeReader
    private var isUsingPriorities = true
    /// The last operation, for failure messages.
    private(set) var last = ""

    /// Small limits exercise the code for big trees with small ones.
    private static let limits = TreeWriterLimits(deletedRowsMax: 4, clearedRows: 2, deadRangesMax: 6, sweptRows: 5)

    private static let declarations = [
        IndexDeclaration(pattern: [], target: .value),
        IndexDeclaration(pattern: [], target: .child(Path(["b"]))),
        IndexDeclaration(pattern: ["a"], target: .child(Path(["b"]))),
        IndexDeclaration(pattern: ["a", "$any"], target: .child(Path(["b", "a"]))),
        IndexDeclaration(pattern: ["$any"], target: .value),
        IndexDeclaration(pattern: ["$any"], target: .child(Path(["b"]))),
        IndexDeclaration(pattern: ["$one", "$two"], target: .child(Path(["b"]))),
    ]

    init(seed: UInt64, store: any OrderedStore) throws {
        dice = TreeDice(seed: seed)
        self.store = store
        try store.begin()
        writer = try TreeWriter(store, limits: Self.limits)
        isUsingPriorities = !dice.once(in: 4)
        reader = writer.reader
    }

    // MARK: Doing

    mutating func step() throws {
        switch dice.number(40) {
        case 0..<20: try set(dice.node(depth: dice.number(3)), at: dice.path(5))
        case 20..<27: try set(.empty, at: dice.path(4))
        case 27..<30: try setPriority()
        case 30..<32: try update()
        case 32: try set(Node(dice.leaf()), at: Path([dice.key()]))
        case 33: _ = try writer.sweep(budget: dice.number(8))
        case 34: _ = try writer.buildIndexes(budget: dice.number(6) + 1)
        case 35 where dice.once(in: 12): try writer.declareIndexes(Self.declarations.filter { _ in dice.once(in: 2) })
        case 36 where dice.once(in: 3): try endTransaction()
        default: try look()
        }
    }

    private mutating func set(_ node: Node, at path: Path) throws {
        // The root is replaced seldom, or the tree would never grow.
        guard !path.isRoot || dice.once(in: 40) else { return }
        let node = isUsingPriorities ? node : Self.withoutPriorities(node)
        last = "set \(path) \(node)"
        try writer.set(node, at: path)
        model = model.setting(node, at: path)
    }

    private mutating func setPriority() throws {
        guard isUsingPriorities else { return }
        let path = dice.path(3)
        let priority = dice.priority()
        last = "set the priority of \(path) to \(priority as Any)"
        try writer.setPriority(priority, at: path)
        model = model.settingPriority(priority, at: path)
    }

    private mutating func update() throws {
        let base = dice.path(2)
        for _ in 0..<dice.number(4) { try set(dice.once(in: 4) ? .empty : dice.node(depth: 1), at: base.appending(dice.path(2))) }
    }

    private mutating func endTransaction() throws {
        if dice.once(in: 4) {
            store.rollback()
            model = committed
            try store.begin()
            writer = try TreeWriter(store, limits: Self.limits)
            // It saw what was never committed, which no reader of a snapshot does.
            reader = writer.reader
        } else {
            try store.commit()
            committed = model
            try store.begin()
        }
        if dice.once(in: 4) { writer = try TreeWriter(store, limits: Self.limits) }
    }

    private static func withoutPriorities(_ node: Node) -> Node {
        if let leaf = node.leaf { return Node(leaf) }
        return Node(sorted: node.children.map { Node.Child(key: $0.key, node: withoutPriorities($0.node)) })
    }

    // MARK: Looking

    private mutating func look() throws {
        var path = dice.path(4)
        if path.isRoot, !dice.once(in: 6) { path = dice.path(4) }
        let key = path.key
        let node = model.at(path)
        let reader = writer.reader
        #expect(try reader.leaf(at: key) == node.leaf)
        #expect(try reader.exists(at: key) == !node.isEmpty)
        #expect(try reader.hasChildren(at: key) == !node.children.isEmpty)
        #expect(try reader.priority(at: key) == node.priority)
        #expect(try reader.node(at: key) == node)
        #expect(try reader.etag(at: key) == node.etag, "hash at \(path)")
        try lookAtKeys(reader, key, node)
        try lookAtJSON(reader, key, node)
        for _ in 0..<4 { try lookAtQuery(reader, path, node) }
    }

    private mutating func lookAtKeys(_ reader: TreeReader, _ key: PathKey, _ node: Node) throws {
        let after = dice.once(in: 2) ? dice.key() : nil
        let limit = dice.number(6)
        let expected = node.children.map(\.key).filter { key in after.map { KeyOrder.precedes($0, key) } ?? true }.prefix(limit)
        #expect(try reader.childKeys(at: key, after: after, limit: limit).elementsEqual(expected) { KeyOrder.areEqual($0, $1) })

        var buffer = ByteBuffer()
        try reader.shallow(at: key, limit: limit, startAfter: after, isPretty: false, into: &buffer)
        var shallow = Node(sorted: expected.map { Node.Child(key: $0, node: Node(.boolean(true))) })
        if node.leaf != nil { shallow = node }
        let text = shallow.serialized(form: node.leaf == nil ? .export : .value)
        #expect(buffer.array() == (shallow.isEmpty && !node.isEmpty ? Array("{}".utf8) : text))
    }

    private mutating func lookAtJSON(_ reader: TreeReader, _ key: PathKey, _ node: Node) throws {
        for form in [JSONForm.value, .export] {
            let isPretty = dice.once(in: 2)
            var expected = ByteBuffer()
            node.write(to: &expected, form: form, isPretty: isPretty)
            let text = expected.string()
            var whole = ByteBuffer()
            try reader.write(at: key, form: form, isPretty: isPretty, into: &whole)
            #expect(whole.string() == text)
            let stream = JSONStream(reader, at: key, form: form, isPretty: isPretty)
            #expect(try pieces(of: stream) == text)
            if text.utf8.count > 1 {
                var short = ByteBuffer()
                #expect(throws: ReadError.tooLarge) {
                    try reader.write(at: key, form: form, isPretty: isPretty, bytesMax: text.utf8.count - 1, into: &short)
                }
            }
        }
    }

    private mutating func lookAtQuery(_ reader: TreeReader, _ path: Path, _ node: Node) throws {
        let query = dice.query()
        let expected = query.evaluate(node)
        #expect(try reader.query(query, at: path) == expected, "\(query) at \(path) of \(node)")
        let isPretty = dice.once(in: 3)
        let form: JSONForm = dice.once(in: 3) ? .export : .value
        let stream = try JSONStream(reader, query: query, at: path.key, form: form, isPretty: isPretty)
        var text = ByteBuffer()
        expected.write(to: &text, form: form, isPretty: isPretty)
        let isBare = expected.isEmpty && !node.children.isEmpty
        #expect(try pieces(of: stream) == (isBare ? "{}" : text.string()), "\(query) at \(path)")
    }

    private mutating func pieces(of stream: JSONStream) throws -> String {
        var buffer = ByteBuffer()
        var count = 0
        while try stream.next(into: &buffer, atLeast: dice.number(30)) {
            #expect(buffer.count > count)
            count = buffer.count
        }
        return buffer.string()
    }

    // MARK: Comparing everything

    /// Compares all that is stored, as the writer sees it and as one who opens the store now.
    mutating func compareAll() throws {
        for reader in [writer.reader, try TreeReader(snapshot: store, previous: reader)] {
            #expect(try reader.node(at: .root) == model)
            var buffer = ByteBuffer()
            try reader.write(at: .root, form: .export, into: &buffer)
            // Nodes take 0 and -0 as equal, their texts are not.
            #expect(buffer.array() == model.serialized(form: .export))
            #expect(try reader.etag(at: .root) == model.etag)
            self.reader = reader
        }
        try compareEntries()
    }

    /// Entries of all indexes, against those that the model should have.
    private mutating func compareEntries() throws {
        while try writer.buildIndexes(budget: 7) {}
        var expected: Set<[UInt8]> = []
        addEntries(model, .root, [], to: &expected)
        var found: Set<[UInt8]> = []
        try writer.reader.scan(.index, from: [], to: []) { entry, _ in
            found.insert(entry.array())
            return .next
        }
        #expect(found.subtracting(expected) == [], "after \(last)")
        #expect(expected.subtracting(found) == [], "after \(last)")
    }

    private func addEntries(_ node: Node, _ key: PathKey, _ path: [String], to entries: inout Set<[UInt8]>) {
        let indexes = writer.state.indexes.indexes.filter { index in
            let pattern = index.declaration.pattern
            return pattern.count == path.count && zip(pattern, path).allSatisfy { IndexDeclaration.isWildcard($0) || KeyOrder.areEqual($0, $1) }
        }
        for child in node.children {
            let below = key.appending(child.key)
            let segment = below.bytes[key.bytes.count...]
            for index in indexes {
                let value = IndexValue(child.node.at(index.declaration.path))
                entries.insert(IndexEntry.key(IndexEntry.prefix(index.id, key.bytes), value, segment: segment))
            }
            if let priority = child.node.priority {
                entries.insert(IndexEntry.key(IndexEntry.prefix(TreeIndex.priorities, key.bytes), IndexValue(priority), segment: segment))
            }
            addEntries(child.node, below, path + [child.key], to: &entries)
        }
    }

    /// Sweeps everything: what is left is alive.
    mutating func sweepAll() throws {
        while try writer.sweep(budget: 3) {}
        var rows = 0
        try store.scan(.tree, from: [], to: [], reversed: false) { _, _ in
            rows += 1
            return .next
        }
        #expect(rows == model.leafCount + Self.priorityCount(model))
        try compareAll()
        try store.commit()
    }

    private static func priorityCount(_ node: Node) -> Int {
        node.children.reduce(node.priority == nil ? 0 : 1) { $0 + priorityCount($1.node) }
    }
}
