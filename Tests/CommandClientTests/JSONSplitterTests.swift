import HearthJSON
import Testing

@testable import CommandClient

@Suite struct JSONSplitterTests {
    /// The pieces of a text that is given in pushes of `step` bytes, as `path=value`.
    static func pieces(
        _ text: String, max: Int, step: Int = 7, depthMax: Int = 32
    ) throws(JSONSplitError) -> (values: [String], priorities: [String]) {
        let bytes = Array(text.utf8)
        var splitter = JSONSplitter(limits: JSONSplitLimits(valueBytesMax: max, depthMax: depthMax))
        var found: [JSONPiece] = []
        var start = 0
        while start < bytes.count {
            let end = min(start + step, bytes.count)
            splitter.append(bytes.span.extracting(start..<end))
            start = end
            while let piece = try splitter.next() { found.append(piece) }
        }
        splitter.finish()
        while let piece = try splitter.next() { found.append(piece) }
        return (found.map(text(of:)), splitter.priorities.map(text(of:)))
    }

    private static func text(of piece: JSONPiece) -> String {
        "\(String(decoding: piece.path, as: UTF8.self))=\(String(decoding: piece.value, as: UTF8.self))"
    }

    @Test(arguments: [1, 3, 1000])
    func smallValuesStayWhole(step: Int) throws {
        let (values, _) = try Self.pieces(#" {"a": {"b": 1, "c": [true]}, "d": "x"} "#, max: 100, step: step)
        #expect(values == [#"a={"b": 1, "c": [true]}"#, #"d="x""#])
    }

    @Test(arguments: [1, 3, 1000])
    func longValuesAreSplit(step: Int) throws {
        let (values, _) = try Self.pieces(#"{"a": {"b": {"x": 1, "y": 2}, "c": [10, null, {"z": "0123"}]}}"#, max: 16, step: step)
        #expect(values == [#"a/b={"x": 1, "y": 2}"#, "a/c/0=10", #"a/c/2={"z": "0123"}"#])
    }

    @Test(arguments: [1, 5, 1000])
    func whatIsTooLongIsSplitDownToLeaves(step: Int) throws {
        let (values, _) = try Self.pieces(#"{"a":{"b":{"x":1,"y":2},"c":[10,null,"0123456789"]},"d":{}}"#, max: 4, step: step)
        #expect(values == ["a/b/x=1", "a/b/y=2", "a/c/0=10", #"a/c/2="0123456789""#, "d={}"])
    }

    @Test(arguments: [("5", "=5"), (#""text""#, #"="text""#), (" true ", "=true"), (#"{".value": 5, ".priority": 1}"#, "=5")])
    func aRootThatIsALeaf(text: String, piece: String) throws {
        #expect(try Self.pieces(text, max: 10).values == [piece])
    }

    @Test(arguments: ["null", "{}", "[]", "{\"a\": null}", "[null]"])
    func nothingToWrite(text: String) throws {
        #expect(try Self.pieces(text, max: 10).values == [])
    }

    @Test func prioritiesOfSplitObjectsWait() throws {
        let text = #"{".priority": "r", "a": {".priority": 3, "b": {".value": 1, ".priority": 2}, "c": 1}, "#
            + #""d": {".value": "01234567890123456789012345678901234567890", ".priority": 4}}"#
        let (values, priorities) = try Self.pieces(text, max: 40)
        #expect(values == [#"a/b={".value": 1, ".priority": 2}"#, "a/c=1", #"d="01234567890123456789012345678901234567890""#])
        #expect(priorities == [#"="r""#, "a=3", "d=4"])
    }

    @Test func keysKeepTheirEscapes() throws {
        let (values, _) = try Self.pieces(#"{"a\u0020b": {"ä": 1, "\"": 2}}"#, max: 2)
        #expect(values == [#"a\u0020b/ä=1"#, #"a\u0020b/\"=2"#])
        #expect(JSONPiece(path: Array(#"a\u0020b/\"/ä"#.utf8), value: [], end: 0).keys == ["a b", "\"", "ä"])
    }

    @Test(arguments: [
        ("", "1:1: the text ends before the value is complete"), ("{", "1:2: the text ends before the value is complete"),
        ("{\"a\": \n tru}", "2:2: not a valid value"), ("{\"a\" 1}", "1:6: a colon is missing here"),
        ("[1 2]", "1:4: a comma or the end of the array is missing here"), ("{\"a\": 1,}", "1:9: a key in quotes is missing here"),
        ("[1,]", "1:4: a value is missing here"), ("1 2", "1:3: there is more text after the value"),
        ("{\"a.b\": 1}", "1:2: a key cannot be empty or contain $ # [ ] / . or control characters"),
        ("{\"a\\u002eb\": 1}", "1:2: a key cannot be empty or contain $ # [ ] / . or control characters"),
        ("{\"\": 1}", "1:2: a key cannot be empty or contain $ # [ ] / . or control characters"),
        ("[01]", "1:2: not a valid number"), ("[1e999]", "1:2: the number is out of range"),
        ("[\"\\x\"]", "1:3: unknown escape sequence in a string"),
        ("{\"a\":\n[\"\t\"]}", "2:3: a control character in a string must be escaped"),
        ("{\"a\": {\".value\": 1, \"b\": 2}}", "1:21: \".value\" cannot be combined with other members"),
        ("{\"a\": {\".value\": {}}}", "1:18: \".value\" must be a string, a number or a boolean"),
        ("{\"a\": {\".priority\": true, \"b\": 1}}", "1:21: a priority must be a string or a number"),
        ("{\"a\": {\".priority\": [1]}}", "1:21: a priority must be a string or a number"),
        ("{\"a\": {\".priority\": {\"b\": 1}}}", "1:22: a priority must be a string or a number"),
        ("[[[[1]]]]", "1:5: this value is nested more than 3 keys deep"),
    ])
    func mistakesHaveTheirPlace(text: String, message: String) {
        let error = #expect(throws: JSONSplitError.self) { try Self.pieces(text, max: 100, depthMax: 3) }
        #expect(error?.description == message)
    }

    @Test func serverValuesMayBeDeep() throws {
        #expect(try Self.pieces(#"[[{".sv": {"increment": 1}}]]"#, max: 100, depthMax: 2).values == [#"0=[{".sv": {"increment": 1}}]"#])
    }

    @Test func memoryIsBoundedByTheLimit() throws {
        var splitter = JSONSplitter(limits: JSONSplitLimits(valueBytesMax: 1000))
        var held = 0
        let row = Array(#""k": {"name": "somebody", "list": [1, 2, 3], "deep": {"a": {"b": {"c": "d"}}}},"#.utf8)
        splitter.append(Array(#"{"users": {"#.utf8).span)
        for number in 0..<20_000 {
            var line = row
            line.replaceSubrange(1..<2, with: Array("k\(number)".utf8))
            splitter.append(line.span)
            while try splitter.next() != nil {}
            held = max(held, splitter.heldBytes)
        }
        #expect(held < 3000)
    }

    @Test func aLongStringIsReadOverManyPieces() throws {
        let text = "{\"a\": \"" + String(repeating: "0123456789äöü\\n", count: 20_000) + "\"}"
        let (values, _) = try Self.pieces(text, max: 1000, step: 100)
        #expect(values.count == 1)
        #expect(values.first?.utf8.count == text.utf8.count - 5)
    }

    @Test func aStringThatIsTooLong() {
        var splitter = JSONSplitter(limits: JSONSplitLimits(stringBytesMax: 10))
        splitter.append(Array("[\"0123456789a\"]".utf8).span)
        #expect(throws: JSONSplitError.self) { try splitter.next() }
    }
}
