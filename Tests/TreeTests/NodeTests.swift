import FuzzSupport
import HearthJSON
import Testing
import Tree

@Suite struct NodeTests {
    @Test(arguments: [
        (#"{"0":"a","1":"b"}"#, #"["a","b"]"#), (#"{"1":"b","2":"c"}"#, #"[null,"b","c"]"#), (#"{"1":"b"}"#, #"[null,"b"]"#),
        (#"{"1":"b","5":"f"}"#, #"{"1":"b","5":"f"}"#), (#"{"0":"a","x":"b"}"#, #"{"0":"a","x":"b"}"#), (#"{"2":"c"}"#, #"{"2":"c"}"#),
        (#"{"0":1,"01":2}"#, #"{"0":1,"01":2}"#), (#"{"-1":1,"0":2}"#, #"{"-1":1,"0":2}"#), (#"{"0":{"0":{"3":1}}}"#, #"[[{"3":1}]]"#),
        (#"[1,[2,null],{},null]"#, "[1,[2]]"), (#"{"b":1,"a":2,"10":3,"9":4}"#, #"{"9":4,"10":3,"a":2,"b":1}"#), ("[null,[],{}]", "null"),
        (#"{"0":1,"2":1,"4":1}"#, "[1,null,1,null,1]"), (#"{"0":1,"3":1}"#, "[1,null,null,1]"), (#"{"0":1,"4":1}"#, #"{"0":1,"4":1}"#),
    ])
    func denseNumbersAreShownAsArrays(_ text: String, _ shown: String) throws {
        let node = try Node.reading(text)
        #expect(node.text() == shown)
        #expect(String(decoding: node.json.serialized(), as: UTF8.self) == shown)
        #expect(try Node(json: node.json) == node)
        #expect(try Node.reading(shown) == node)
    }

    @Test(arguments: [
        (#"["a","b"]"#, #"{"0":"a","1":"b"}"#), (#"{".value":"Tom",".priority":1.5}"#, #"{".value":"Tom",".priority":1.5}"#),
        (#"{".priority":2,"a":1}"#, #"{"a":1,".priority":2}"#), (#"{".priority":2}"#, "null"), (#"{".value":null,".priority":2}"#, "null"),
        (#"{".value":7}"#, "7"),
        (#"{"a":{".value":true,".priority":"p"},"b":{".priority":null,"c":1}}"#, #"{"a":{".value":true,".priority":"p"},"b":{"c":1}}"#),
        (#"{".value":{"a":1},".priority":3}"#, #"{"a":1,".priority":3}"#),
    ])
    func exportKeepsPriorities(_ text: String, _ shown: String) throws {
        let node = try Node.reading(text)
        #expect(node.text(.export) == shown)
        #expect(try Node.reading(shown) == node)
    }

    @Test func prettyTextIsIndented() throws {
        let node = try Node.reading(#"{"a":1,"b":{"c":[2,null,{"d":"e"}]},".priority":4}"#)
        #expect(node.text(isPretty: true) == "{\n  \"a\" : 1,\n  \"b\" : {\n    \"c\" : [ 2, null, {\n      \"d\" : \"e\"\n    } ]\n  }\n}")
        #expect(Node(.integer(1), priority: .number(2)).text(.export, isPretty: true) == "{\n  \".value\" : 1,\n  \".priority\" : 2\n}")
        #expect(node.text(.export, isPretty: true).hasSuffix("},\n  \".priority\" : 4\n}"))
        #expect(Node.empty.text(isPretty: true) == "null")
    }

    @Test func placesAreReadAndWritten() throws {
        let node = try Node.reading(#"{"a":{"b":1},"c":2}"#)
        #expect(node.at(Path(["a", "b"])) == Node(.integer(1)) && node.at(.root) == node && node.at(Path(["c", "x"])).isEmpty)
        #expect(node.child("a").leafCount == 1 && node.leafCount == 2 && node.depth == 2 && node.leafBytes == 16)
        #expect(node.setting(.empty, at: Path(["a", "b"])).text() == #"{"c":2}"#)
        #expect(node.setting(Node(.integer(3)), at: Path(["c", "d", "e"])).text() == #"{"a":{"b":1},"c":{"d":{"e":3}}}"#)
        #expect(node.setting(.empty, at: Path(["c", "d"])) == node && node.setting(.empty, at: Path(["x", "y"])) == node)
        #expect(node.setting(Node(.boolean(true)), at: .root).text() == "true")
    }

    @Test func aLeafOnTheWayIsReplacedAndItsPriorityKept() throws {
        let node = try Node.reading(#"{"a":{".value":5,".priority":1}}"#)
        #expect(node.setting(Node(.integer(2)), at: Path(["a", "b"])).text(.export) == #"{"a":{"b":2,".priority":1}}"#)
        #expect(node.setting(.empty, at: Path(["a", "b"])) == node)
    }

    @Test func whatIsLeftEmptyVanishesWithItsPriority() throws {
        let node = try Node.reading(#"{"a":{"b":{"c":1,".priority":2},".priority":3}}"#)
        #expect(node.setting(.empty, at: Path(["a", "b", "c"])).isEmpty)
        #expect(node.settingPriority(.string("p"), at: Path(["a", "x"])) == node)
        #expect(node.settingPriority(nil, at: Path(["a"])).text(.export) == #"{"a":{"b":{"c":1,".priority":2}}}"#)
        var empty = Node.empty
        empty.priority = .number(1)
        #expect(empty == .empty && empty.priority == nil)
    }

    /// A node against a flat table of its leaves and priorities.
    @Test(arguments: 0..<20)
    func writesAgreeWithATableOfLeaves(_ seed: Int) {
        var samples = Samples(random: SeededRandom(seed: UInt64(seed)))
        let keys = ["a", "b", "0", "1", "é"]
        var table = LeafTable()
        var node = Node.empty
        for _ in 0..<150 {
            let path = Path((0..<samples.random.below(4)).map { _ in samples.random.pick(keys) })
            if samples.random.below(5) == 0 {
                let priority = samples.priority()
                node = node.settingPriority(priority, at: path)
                table.set(priority, at: path)
            } else {
                let value = samples.node(depth: samples.random.below(3))
                node = node.setting(value, at: path)
                table.set(value, at: path)
            }
            #expect(node.isWellFormed)
            #expect(LeafTable(node) == table, "seed \(seed)")
            #expect((try? Node.reading(node.text(.export))) == node)
        }
    }

    @Test func whatIsWrittenReadsBack() throws {
        var samples = Samples(random: SeededRandom(seed: 6))
        for _ in 0..<2000 {
            let node = samples.node(depth: 4)
            #expect(node.isWellFormed)
            for isPretty in [false, true] {
                #expect(try Node.reading(node.text(.export, isPretty: isPretty)) == node)
                #expect(try Node.reading(node.text(.value, isPretty: isPretty)).text() == node.text())
            }
            #expect(try Node(json: node.json).text() == node.text())
        }
    }

    @Test func manyWritesInARowLeaveTheOriginalAlone() throws {
        let original = try Node.reading(#"{"list":{"a":1},"other":{"b":2}}"#)
        var node = original
        // Were everything copied for each of them, this would not end.
        for index in 0..<50_000 { node.set(Node(.integer(Int64(index))), at: Path(["list", "n\(100_000 + index)", "deep"])) }
        for index in 1..<50_000 { node.set(.empty, at: Path(["list", "n\(150_000 - index)", "deep"])) }
        #expect(node.text() == #"{"list":{"a":1,"n100000":{"deep":0}},"other":{"b":2}}"#)
        #expect(original.text() == #"{"list":{"a":1},"other":{"b":2}}"#)
    }
}
