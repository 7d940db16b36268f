import HearthBytes
import HearthJSON
import Tree

/// Properties of every text, whether it is a path, a body, or neither.
struct Properties {
    private let text: [UInt8]
    private(set) var broken: [String] = []

    /// A sentence for each property that `text` breaks.
    static func broken(by text: [UInt8]) -> [String] {
        var properties = Properties(text: text)
        properties.checkPath(percentEncoded: false)
        properties.checkPath(percentEncoded: true)
        properties.checkDraft()
        properties.checkUpdate()
        properties.checkLeaf()
        return properties.broken
    }

    private init(text: [UInt8]) { self.text = text }

    private mutating func expect(_ holds: Bool, _ sentence: String) {
        if !holds { broken.append(sentence) }
    }

    private mutating func checkPath(percentEncoded: Bool) {
        let path = try? Path(parsing: text.span, percentEncoded: percentEncoded)
        let location = try? Location(parsing: text.span, percentEncoded: percentEncoded)
        guard let path else {
            expect(location.map(\.isPriority) ?? true, "only the location is read")
            return
        }
        expect(location == Location(path: path), "the location is another path")
        expect(path.segments.allSatisfy { Path.isValid(key: $0) } && path.count <= Path.depthMax, "the path is not valid")
        expect((try? Path(parsing: path.description)) == path, "the path reads back otherwise")
        let key = path.key
        expect(PathKey.path(of: key.bytes.span) == path, "the row is of another path")
        for index in path.segments.indices.dropFirst() {
            let left = PathKey.root.appending(path.segments[index - 1])
            let right = PathKey.root.appending(path.segments[index])
            let order = KeyOrder.compare(path.segments[index - 1], path.segments[index])
            expect((left < right) == (order < 0) && (left == right) == (order == 0), "rows are in another order")
        }
    }

    private mutating func checkDraft() {
        let tree = try? JSONValue(parsing: text)
        guard let draft = try? Draft(parsing: text.span) else { return }
        expect(tree != nil, "only the draft takes it")
        check(draft)
        if draft.isResolved, let tree { expect((try? Node(json: tree)).map { shown($0) } == shown(draft.node), "the tree is another node") }
    }

    private mutating func check(_ draft: Draft) {
        expect(draft.node.isWellFormed, "the node is not well-formed")
        expect(draft.node.depth <= Path.depthMax, "the node is too deep")
        expect(draft.leafCount == draft.node.leafCount && draft.leafBytes == draft.node.leafBytes, "the leaves are counted otherwise")
        expect(Set(draft.serverValues.map(\.path)).count == draft.serverValues.count, "a place has two server values")
        expect(draft.serverValues.allSatisfy { draft.node.at($0.path).leaf?.number != nil }, "a server value has no place")
        expect(draft.timestampPriorities.allSatisfy { draft.node.at($0).priority == .number(0) }, "a priority has no place")
        let node = draft.resolved(now: 1234) { _ in .integer(7) }
        expect(node.isWellFormed && node.leafCount == draft.leafCount, "the resolved node is another")
        checkWriting(node)
    }

    private mutating func checkWriting(_ node: Node) {
        for isPretty in [false, true] {
            for form in [JSONForm.value, .export] {
                let text = node.text(form, isPretty: isPretty)
                guard let back = try? Node.reading(text) else {
                    expect(false, "what is written cannot be read: \(text)")
                    continue
                }
                expect(back.text(form) == node.text(form), "what is written reads otherwise: \(text)")
                if form == .export { expect(back == node && back.hash() == node.hash(), "the export is another node: \(text)") }
            }
        }
    }

    private mutating func checkUpdate() {
        guard let update = try? UpdateDraft(parsing: text.span) else { return }
        expect((try? JSONValue(parsing: text)) != nil, "only the update takes it")
        let members = update.members + update.priorities
        for (index, member) in members.enumerated() {
            check(member.draft)
            for other in update.members[min(index + 1, update.members.count)...] {
                expect(!member.path.contains(other.path) && !other.path.contains(member.path), "paths contain each other")
            }
        }
        for member in update.priorities {
            expect(member.draft.node.isEmpty || member.draft.node.leaf.flatMap { Priority($0) } != nil, "no priority")
        }
    }

    private mutating func checkLeaf() {
        guard let leaf = Leaf(json: text.span) else { return }
        let written = Node(leaf).serialized()
        expect(Leaf(json: written.span) == leaf, "the leaf reads back otherwise")
        expect((try? Draft(parsing: text.span)).map { $0.node == Node(leaf) } ?? (text.count > 4096), "the draft is not the leaf")
    }

    private func shown(_ node: Node) -> String { node.text(.export) }
}
