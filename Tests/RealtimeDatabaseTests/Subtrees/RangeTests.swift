import HearthBytes
import HearthJSON
import Store
import Testing
import Tree

@testable import RealtimeDatabase

/// Parts of a node that a client lacks, against a model of the client (spec database 3.5, 3.6).
@Suite("Ranges of a client's copy")
struct RangeTests {
    @Test("a client that merges the parts has the node", arguments: UInt64(1)...12)
    func random(seed: UInt64) throws {
        var dice = TreeDice(seed: seed)
        let store = try MemoryStorage().openWriter(namespace: "ranges")
        try store.begin()
        var writer = try TreeWriter(store)
        var results = (same: 0, parts: 0, whole: 0)
        for _ in 0..<1500 {
            let server = dice.node(depth: 4)
            var client = dice.once(in: 10) ? dice.node(depth: 4) : server
            for _ in 0..<dice.number(4) { client = client.setting(dice.once(in: 3) ? .empty : dice.node(depth: 1), at: dice.path(4)) }
            if dice.once(in: 6) { client = client.settingPriority(dice.priority(), at: dice.path(2)) }
            let place = dice.once(in: 3) ? Path.root : Path(["x", "y"])
            try writer.set(.empty, at: Path.root)
            try writer.set(server, at: place)
            if !place.isRoot { try writer.set(Node(.integer(1)), at: Path(["x", "z"])) }
            let model = ClientModel(client)
            let claim = try model.claim { dice.once(in: 3) }
            switch try writer.reader.compare(claim, at: place.key) {
            case .same:
                results.same += 1
                #expect(client == server && client.hash() == server.hash(), "\(client) is not \(server)")
            case .whole: results.whole += 1
            case .different(let runs):
                results.parts += 1
                let json = try pieces(of: RangeStream(writer.reader, at: place.key, claim, runs), &dice)
                let merged = try model.merging(json)
                #expect(merged.hash() == server.hash(), "\(client) and \(claim.texts) and \(json) make \(merged), not \(server)")
            }
        }
        #expect(results.same > 100 && results.parts > 100, "\(results)")
    }

    /// The texts are those that a client's own tests hash.
    @Test("hashes are those of the clients", arguments: [
        (#"{"foo":"bar"}"#, [], [#"("foo":(string:"bar"))"#]),
        (
            #"{"foo":{"!beforePriority":"before",".priority":"prio","afterPriority":"after"},"qux":"qux"}"#, ["foo/.priority"],
            [
                #"("foo":("!beforePriority":(string:"before"),".priority":(string:"prio")))"#,
                #"("foo":("afterPriority":(string:"after")),"qux":(string:"qux"))"#,
            ]
        ),
        (#"{"foo":{".value":"bar",".priority":"baz"}}"#, [], [#"("foo":(priority:string:"baz":string:"bar"))"#]),
        (#"{"1":"one","2":"two","10":"ten"}"#, ["2"], [#"("1":(string:"one"),"2":(string:"two"))"#, #"("10":(string:"ten"))"#]),
        (
            #"{"bar":{"deep":"value"},"foo":{"other-deep":"value"}}"#, ["bar/deep"],
            [#"("bar":("deep":(string:"value")))"#, #"("foo":("other-deep":(string:"value")))"#]
        ),
        (
            #"{"\"":"\\","\"\\\"\\":"\"\\\"\\"}"#, [], [#"("\"":(string:"\\"),"\"\\\"\\":(string:"\"\\\"\\"))"#]
        ),
        ("7", [], ["(number:401c000000000000)"]), (#"{"a":true,"b":-0}"#, [], [#"("a":(boolean:true),"b":(number:8000000000000000))"#]),
    ])
    func texts(_ json: String, _ posts: [String], _ texts: [String]) throws {
        let node = try Draft(parsing: json.utf8Span.span).node
        let last = try #require(ClientModel(node).leaves.last)
        let claim = try RangeHashes(texts: posts + [last.text], hashes: texts.map { ClientModel.sha($0) } + [""])
        #expect(try comparison(node, claim) == .same)
        let wrong = try RangeHashes(texts: posts + [last.text], hashes: texts.map { ClientModel.sha($0 + " ") } + [""])
        #expect(try comparison(node, wrong) != .same)
    }

    @Test func aClientWithoutAnythingGetsTheWholeNode() throws {
        let nothing = try RangeHashes(texts: [], hashes: [""])
        #expect(try comparison(Node(.integer(1)), nothing) == .whole)
        #expect(try comparison(.empty, nothing) == .same)
    }

    @Test func aPriorityWithoutLeavesOfItsNodeIsNotMerged() throws {
        let client = try Draft(parsing: #"{"a":{"1":1,"2":2,".priority":3},"b":1}"#.utf8Span.span).node
        let server = client.settingPriority(.number(4), at: Path(["a"]))
        let claim = try ClientModel(client).claim { true }
        #expect(claim.texts == ["a/1", "a/2", "a/.priority", "b"])
        #expect(try comparison(server, claim) == .whole)
    }

    @Test func keysThatClientsSortDifferentlyAreNotMerged() throws {
        let client = try Draft(parsing: #"{"000000000001":1,"2":2,"a":3}"#.utf8Span.span).node
        let claim = try ClientModel(client).claim { true }
        #expect(try comparison(client, claim) == .whole)
        let other = try ClientModel(try Draft(parsing: #"{"2":2,"a":3}"#.utf8Span.span).node).claim { true }
        #expect(try comparison(client, other) == .whole)
    }

    @Test(arguments: [
        (["a"], ["x"], "\"ch\" must have one hash more than paths"),
        (["b", "a"], ["x", "y", ""], "the paths of \"ch\" must be in the order of their keys"),
        (["a", "a"], ["x", "y", ""], "the paths of \"ch\" must be in the order of their keys"),
        (["a.b"], ["x", ""], "Invalid path: Invalid token in path"), ([".priority/a"], ["x", ""], "Invalid path: Invalid token in path"),
    ])
    func mistakesAreNamed(_ texts: [String], _ hashes: [String], _ reason: String) {
        #expect(throws: RangeHashes.Fault(reason: reason)) { try RangeHashes(texts: texts, hashes: hashes) }
    }

    private func comparison(_ node: Node, _ claim: RangeHashes) throws -> RangeComparison {
        let store = try MemoryStorage().openWriter(namespace: "ranges")
        try store.begin()
        var writer = try TreeWriter(store)
        try writer.set(node, at: Path.root)
        return try writer.reader.compare(claim, at: .root)
    }

    private func pieces(of stream: RangeStream, _ dice: inout TreeDice) throws -> String {
        var buffer = ByteBuffer()
        while try stream.next(into: &buffer, atLeast: dice.number(30)) {}
        return buffer.string()
    }
}
