import HearthBytes
import Store
import Testing
import Tree

@testable import RealtimeDatabase

/// The rules of spec database 1.1 and 1.2, one by one, on rows.
@Suite("The tree in rows")
struct TreeRulesTests {
    private let store: any OrderedStore
    private let writer: TreeWriter

    init() throws {
        store = try MemoryStorage().openWriter(namespace: "rules")
        try store.begin()
        writer = try TreeWriter(store)
    }

    private func set(_ path: String, _ json: String) throws {
        try writer.set(try Draft(parsing: Array(json.utf8).span).node, at: try Path(parsing: path))
    }

    private func json(_ path: String = "/", form: JSONForm = .export, isPretty: Bool = false) throws -> String {
        var buffer = ByteBuffer()
        try writer.reader.write(at: try Path(parsing: path).key, form: form, isPretty: isPretty, into: &buffer)
        return buffer.string()
    }

    @Test("a leaf on the way is replaced, and its priority stays")
    func leafOnTheWay() throws {
        try set("a", #"{".value": 1, ".priority": 7}"#)
        try set("a/b/c", "2")
        #expect(try json() == #"{"a":{"b":{"c":2},".priority":7}}"#)
    }

    @Test("the leaf on the way may be the root")
    func leafAtTheRoot() throws {
        try set("/", #"{".value": 1, ".priority": "p"}"#)
        #expect(try json() == #"{".value":1,".priority":"p"}"#)
        try set("a", "2")
        #expect(try json() == #"{"a":2,".priority":"p"}"#)
    }

    @Test("a leaf takes the place of what was below, priorities too")
    func leafInPlaceOfChildren() throws {
        try set("a", #"{"b": {".value": 1, ".priority": 1}, "c": {"d": 2, ".priority": 2}, ".priority": 3}"#)
        try set("a", "5")
        #expect(try json() == #"{"a":5}"#)
    }

    @Test("writing nothing below a leaf or where nothing is changes nothing")
    func nothingBelowLeaf() throws {
        try set("a", "1")
        try set("a/b", "null")
        try set("x/y", "null")
        #expect(try json() == #"{"a":1}"#)
    }

    @Test("who loses the last child goes, with its priority")
    func emptiedAncestors() throws {
        try set("a", #"{"b": {"c": {".value": 1, ".priority": 1}, ".priority": 2}, ".priority": 3}"#)
        try set("a/b/c", "null")
        #expect(try json() == "null")
        try set("a/b/d", "1")
        #expect(try json() == #"{"a":{"b":{"d":1}}}"#)
    }

    @Test("a priority alone can be set and taken away, but not where nothing is")
    func priorities() throws {
        try set("a/b", "1")
        try writer.setPriority(.number(1), at: Path(["a"]))
        try writer.setPriority(.string("x"), at: Path(["a", "b"]))
        try writer.setPriority(.number(1), at: Path(["none"]))
        #expect(try json() == #"{"a":{"b":{".value":1,".priority":"x"},".priority":1}}"#)
        try writer.setPriority(nil, at: Path(["a"]))
        #expect(try json() == #"{"a":{"b":{".value":1,".priority":"x"}}}"#)
    }

    @Test("arrays", arguments: [
        (#"{"0": 1, "1": 2}"#, "[1,2]"), (#"{"0": 1, "2": 2}"#, "[1,null,2]"), (#"{"1": 1}"#, "[null,1]"), (#"{"2": 1}"#, #"{"2":1}"#),
        (#"{"0": 1, "01": 2}"#, #"{"0":1,"01":2}"#), (#"{"-1": 0, "0": 1}"#, #"{"-1":0,"0":1}"#), (#"{"0": 1, "a": 2}"#, #"{"0":1,"a":2}"#),
        (#"{"3": 1, "4": 2, "5": 3}"#, "[null,null,null,1,2,3]"), (#"{"4": 1, "5": 2}"#, #"{"4":1,"5":2}"#),
        (#"{"0": {"0": {"1": true}}, "1": {"x": 1}}"#, #"[[[null,true]],{"x":1}]"#),
    ])
    func arrays(stored: String, shown: String) throws {
        try set("list", stored)
        #expect(try json("list", form: .value) == shown)
        try writer.setPriority(.number(1), at: Path(["list"]))
        #expect(try json("list", form: .value) == shown)
    }

    @Test("a shallow read, indented")
    func prettyShallow() throws {
        try set("/", #"{"a": {"b": 1}, "c": 2}"#)
        var buffer = ByteBuffer()
        try writer.reader.shallow(at: .root, isPretty: true, into: &buffer)
        #expect(buffer.string() == "{\n  \"a\" : true,\n  \"c\" : true\n}")
    }

    @Test("what is too big is refused, in memory and as text")
    func limits() throws {
        try set("/", #"{"a": "0123456789", "b": "0123456789"}"#)
        for priority in [nil, Priority.number(1)] {
            try writer.setPriority(priority, at: .root)
            #expect(try writer.reader.node(at: .root, bytesMax: 31).leafCount == 2)
            #expect(throws: ReadError.tooLarge) { try writer.reader.node(at: .root, bytesMax: 29) }
        }
        var buffer = ByteBuffer()
        #expect(throws: ReadError.tooLarge) { try writer.reader.write(at: .root, bytesMax: 30, into: &buffer) }
        #expect(throws: ReadError.tooLarge) { try writer.reader.query(Query(order: .value, start: .startAt(.false)), at: .root, bytesMax: 5) }
    }

    @Test("a reader of a snapshot keeps what has not changed")
    func previousReader() throws {
        let first = try TreeReader(snapshot: store)
        try set("a", "1")
        #expect(try TreeReader(snapshot: store, previous: first).state === first.state)
        try set("b", #"{".value": 1, ".priority": 1}"#)
        let second = try TreeReader(snapshot: store, previous: first)
        #expect(second.state !== first.state)
        #expect(try second.priority(at: Path(["b"]).key) == .number(1))
    }
}
