import HearthBytes
import Rules
import Testing
import Tree

@testable import RealtimeDatabase

/// The cost of operations on a node with many children, in store calls and examined rows, which do not depend on the machine.
@Suite("The cost of the tree")
struct TreeCostTests {
    private static let count = 8000
    private let store: CountingStore
    private let writer: TreeWriter

    /// `/users` with many users of three leaves each, indexed by age; a leaf beside it.
    init() throws {
        store = CountingStore(try MemoryStorage().openWriter(namespace: "cost"))
        try store.begin()
        writer = try TreeWriter(store)
        try writer.declareIndexes([IndexDeclaration(pattern: ["users"], target: .child(Path(["age"])))])
        while try writer.buildIndexes(budget: 1000) {}
        let users = (0..<Self.count).map { number in
            let members = ["age": Node(.integer(Int64(number % 100))), "name": Node(.string("n")), "town": Node(.string("t"))]
            return Node.Child(key: "u\(number)", node: Node(unsorted: members.map { Node.Child(key: $0, node: $1) }))
        }
        try writer.set(Node(unsorted: users), at: Path(["users"]))
        try writer.set(Node(.integer(1)), at: Path(["counter"]))
    }

    @Test("a write of a leaf that is there")
    func existingLeaf() throws {
        let cost = try store.counting { try writer.set(Node(.integer(2)), at: Path(["users", "u77", "name"])) }
        #expect(cost == (operations: 2, rows: 1))
    }

    @Test("a write of an indexed leaf")
    func indexedLeaf() throws {
        let cost = try store.counting { try writer.set(Node(.integer(200)), at: Path(["users", "u77", "age"])) }
        #expect(cost.operations <= 5)
        #expect(cost.rows <= 2)
    }

    @Test("a new leaf, a deleted leaf, and a deleted child")
    func comingAndGoing() throws {
        let new = try store.counting { try writer.set(Node(.boolean(true)), at: Path(["users", "u77", "new"])) }
        #expect(new.operations <= 4)
        #expect(new.rows <= 2)
        let gone = try store.counting { try writer.set(.empty, at: Path(["users", "u77", "new"])) }
        #expect(gone.operations <= 4)
        #expect(gone.rows <= 3)
        let child = try store.counting { try writer.set(.empty, at: Path(["users", "u77"])) }
        #expect(child.operations <= 8)
        #expect(child.rows <= 12)
    }

    @Test("queries that take ten children", arguments: [
        Query(order: .child(Path(["age"])), limit: 10), Query(order: .child(Path(["age"])), limit: 10, anchorsLast: true),
        Query(order: .child(Path(["age"])), start: .startAt(.number(50)), end: .endAt(.number(60)), limit: 10),
        Query(order: .key, limit: 10), Query(order: .key, limit: 10, anchorsLast: true),
        Query(order: .key, start: .startAfter(.string("u5")), limit: 10),
        Query(order: .priority, limit: 10, anchorsLast: true),
    ])
    func limitedQuery(query: Query) throws {
        var result = Node.empty
        let cost = try store.counting { result = try writer.reader.query(query, at: Path(["users"])) }
        #expect(result.children.count == 10)
        #expect(cost.operations <= 16)
        #expect(cost.rows <= 120)
    }

    @Test("a priority among the children costs a query little")
    func priorities() throws {
        try writer.setPriority(.number(1), at: Path(["users", "u5"]))
        let query = Query(order: .priority, limit: 10, anchorsLast: true)
        var result = Node.empty
        let cost = try store.counting { result = try writer.reader.query(query, at: Path(["users"])) }
        #expect(!result.child("u5").isEmpty)
        #expect(cost.operations <= 40)
        #expect(cost.rows <= 120)
    }

    @Test("a big delete, a read behind it, and a write into it")
    func bigDelete() throws {
        let delete = try store.counting { try writer.set(.empty, at: Path(["users"])) }
        #expect(delete.operations <= 12)
        #expect(delete.rows <= 2100)
        var left = Node.empty
        let read = try store.counting { left = try writer.reader.node(at: .root) }
        #expect(left.children.map(\.key) == ["counter"])
        #expect(read == (operations: 1, rows: 2))
        let write = try store.counting { try writer.set(Node(.integer(1)), at: Path(["users", "u500", "name"])) }
        #expect(write.operations <= 24)
        #expect(write.rows <= 60)
        #expect(try writer.reader.node(at: Path(["users"]).key).leafCount == 1)
        var steps = 0
        while try writer.sweep(budget: 1000) { steps += 1 }
        #expect(steps >= 3 * Self.count / 1000)
        #expect(writer.state.deadRows.isEmpty && writer.state.deadEntries.isEmpty)
    }

    @Test("what is asked of one node")
    func points() throws {
        let reader = writer.reader
        let key = Path(["users", "u7999"]).key
        let users = Path(["users"]).key
        let cost = try store.counting {
            let found = try (
                reader.exists(at: key), reader.hasChildren(at: users), reader.leaf(at: key.appending("name")), reader.priority(at: key),
                reader.childKeys(at: users, limit: 2)
            )
            #expect(found == (true, true, .string("n"), nil, ["u0", "u1"]))
        }
        #expect(cost.operations <= 4)
        #expect(cost.rows <= 8)
    }

    @Test("opening reads what is declared, not what is stored")
    func opening() throws {
        let cost = try store.counting { _ = try TreeWriter(store) }
        #expect(cost.operations == 2)
        #expect(cost.rows <= 4)
    }
}
