import Testing
import Tree

@Suite struct DraftTests {
    private func read(_ text: String, _ limits: DraftLimits = DraftLimits()) throws(NodeError) -> Draft {
        try Draft(parsing: Array(text.utf8).span, limits: limits)
    }

    private static let malformed = "Invalid data; couldn't parse JSON object, array, or value."

    private static func badKey(_ place: String) -> String {
        "Invalid data; couldn't parse key beginning at \(place). Key value can't be empty or contain $ # [ ] / or ."
    }

    @Test(arguments: [
        ("", "Error: No data supplied."), (" \n", "Error: No data supplied."), (#"{"":1}"#, badKey("1:2")), (#"{"x/y":1}"#, badKey("1:2")),
        ("{\n  \"a\": {\"é\":1, \"b.c\": 2}}", badKey("2:16")), (#"{"a$":1}"#, badKey("1:2")), (#"{"\u0024":1}"#, badKey("1:2")),
        (#"{"\u0001":1}"#, badKey("1:2")), ("{\"\u{7F}\":1}", badKey("1:2")), (#"{".foo":1}"#, badKey("1:2")), (##"[{"#":1}]"##, badKey("1:3")),
        (#"{"a]":null}"#, badKey("1:2")), (#"{".VALUE":1}"#, badKey("1:2")), (#"{"\u002evalue":{"[":1}}"#, badKey("1:17")),
        (#"{".value":1,"a":2}"#, "Invalid data; .value can't stand beside other children."),
        (#"{"a":2,".value":1}"#, "Invalid data; .value can't stand beside other children."),
        (#"{".value":1,".priority":true}"#, "Invalid data; a priority must be a string, a number or null."),
        (#"{".value":1,".priority":{"a":1}}"#, "Invalid data; a priority must be a string, a number or null."),
        (#"{".value":1,".priority":[]}"#, "Invalid data; a priority must be a string, a number or null."),
        (#"{".value":1,".priority":{".sv":{"increment":1}}}"#, "Invalid data; a priority must be a string, a number or null."),
        (#"{".value":1,".priority":{".value":1,".priority":2}}"#, "Invalid data; a priority must be a string, a number or null."),
        (#"{".sv":"nope"}"#, "Invalid data; this server value does not exist."),
        (#"{".sv":1}"#, "Invalid data; this server value does not exist."),
        (#"{".sv":{"increment":"1"}}"#, "Invalid data; this server value does not exist."),
        (#"{".sv":{"increment":1,"a":2}}"#, "Invalid data; this server value does not exist."),
        (#"{".sv":"timestamp","a":1}"#, "Invalid data; this server value does not exist."),
        (#"{"a":null,".sv":"timestamp"}"#, "Invalid data; this server value does not exist."),
        (#"{".sv":"timestamp",".priority":1}"#, "Invalid data; this server value does not exist."),
        (#"{".sv":{".sv":"timestamp"}}"#, "Invalid data; this server value does not exist."),
        (#"{".sv":null}"#, "Invalid data; this server value does not exist."),
    ])
    func badBodiesAreRefused(_ text: String, _ message: String) {
        #expect { try read(text) } throws: { ($0 as? NodeError)?.message == message }
    }

    @Test(arguments: [
        #"{"a":"#, "NaN", "1e400", "-", "01", "1.", "+1", ".5", "1e", "tru", "nul", "'a'", "\"a", "\"\\", "\"\\x\"", "\"\n\"",
        "\"\\u12\"", "{", "}", "[", "]", "[1", "[1,",
        "[1,]", "[,1]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "{\"a\":1 \"b\":2}", "1 2", "{}}", "\u{FEFF}1", "nullx", "true1",
        "Infinity", "// a\n1", "{\"a\n\":1}", "{\"a",
        "{\"a\\", "{\"\\u12\":1}", "12a",
    ])
    func textsThatAreNotJSONAreRefused(_ text: String) {
        #expect { try read(text) } throws: { ($0 as? NodeError)?.message == Self.malformed }
    }

    @Test func bytesThatAreNotUTF8AreRefused() {
        for bytes: [UInt8] in [[0x22, 0xFF, 0x22], Array("{\"".utf8) + [0xC3] + Array("\":1}".utf8), [0xFF], [0x22, 0xED, 0xA0, 0x80, 0x22]] {
            #expect(throws: NodeError(kind: .malformed)) { try Draft(parsing: bytes.span) }
        }
    }

    @Test(arguments: [
        ("1", "1"), (" [ 1 , { \"a\" : null } , \"b\" ] ", #"{"0":1,"2":"b"}"#), (#"{"x":null,"y":{},"z":{"q":null},"k":1}"#, #"{"k":1}"#),
        (#"{"b":1,"a":2,"b":3}"#, #"{"a":2,"b":3}"#), (#"{"a":1,"a":null}"#, "null"), (#"{"a":null,"a":1}"#, #"{"a":1}"#),
        (#"{"\u0061":1,"\ud83d\ude00":2}"#, #"{"a":1,"😀":2}"#), ("9007199254740993", "9007199254740993"), ("1e3", "1000"), ("1.50", "1.5"),
        ("18446744073709551616", "18446744073709552000.0"), (#"{"f":false,"z":0,"e":""}"#, #"{"e":"","f":false,"z":0}"#),
        (#""tab\tline\nquote\" slash\/ é\u00e9""#, #""tab\tline\nquote\" slash/ éé""#), (#"{".value":1,".value":2}"#, "2"),
        (#"{".value":null,"a":1}"#, #"{"a":1}"#), (#"{"a":null,".value":1}"#, nil), (#""\ud800""#, "\"\u{FFFD}\""),
        (#"{".priority":{".value":3},"a":1}"#, #"{"a":1,".priority":3}"#),
    ] as [(String, String?)])
    func bodiesBecomeNodes(_ text: String, _ shown: String?) throws {
        guard let shown else {
            #expect(throws: NodeError(kind: .mixedValue)) { try read(text) }
            return
        }
        let draft = try read(text)
        #expect(draft.node.text(.export) == shown)
        #expect(draft.isResolved && draft.node.isWellFormed)
        #expect(draft.leafCount == draft.node.leafCount && draft.leafBytes == draft.node.leafBytes)
    }

    @Test func serverValuesAreFoundAndResolved() throws {
        let draft = try read(
            #"{"t":{".sv":"timestamp"},"l":[{".sv":{"increment":5}},1],"p":{".value":1,".priority":{".sv":"timestamp"}},"#
                + #""v":{".value":{".sv":"timestamp"},".priority":2}}"#)
        #expect(Set(draft.serverValues.map(\.path)) == [Path(["t"]), Path(["l", "0"]), Path(["v"])])
        #expect(draft.timestampPriorities == [Path(["p"])] && !draft.isResolved)
        var asked: [Path] = []
        let node = draft.resolved(now: 1234) { path in
            asked.append(path)
            return .integer(10)
        }
        #expect(asked == [Path(["l", "0"])])
        #expect(node.text(.export) == #"{"l":{"0":15,"1":1},"p":{".value":1,".priority":1234},"t":1234,"v":{".value":1234,".priority":2}}"#)
    }

    @Test(arguments: [
        (#"{"a":{".sv":"timestamp"},"a":1}"#, #"{"a":1}"#), (#"{"a":1,"a":{".sv":"timestamp"}}"#, #"{"a":7}"#),
        (#"{"a":{"b":{".sv":"timestamp"}},"c":{".sv":"timestamp"},"a":{"d":2}}"#, #"{"a":{"d":2},"c":7}"#),
        (#"{"a":{".sv":"timestamp"},"a":null}"#, "null"), (#"{".value":{".sv":"timestamp"},".value":3}"#, "3"),
        (#"{".value":3,".value":{".sv":"timestamp"}}"#, "7"), (#"{".value":{".sv":"timestamp"},".value":null}"#, "null"),
        (#"{".value":{"a":{".sv":"timestamp"}},".value":null,"a":1}"#, #"{"a":1}"#), (#"{".priority":{".sv":"timestamp"}}"#, "null"),
        (#"{"b":1,"a":{".sv":"timestamp"},"b":{".sv":"timestamp"}}"#, #"{"a":7,"b":7}"#),
        (#"{"a":1,".priority":{".sv":"timestamp"},".priority":5}"#, #"{"a":1,".priority":5}"#),
        (#"{".priority":{".sv":"timestamp"},".value":{"a":{".sv":"timestamp"}}}"#, #"{"a":7,".priority":7}"#),
    ])
    func theLastOfEqualMembersCounts(_ text: String, _ resolved: String) throws {
        let draft = try read(text)
        #expect(draft.resolved(now: 7) { _ in nil }.text(.export) == resolved)
        for (path, _) in draft.serverValues { #expect(draft.node.at(path).leaf != nil) }
        for path in draft.timestampPriorities { #expect(draft.node.at(path).priority != nil) }
        #expect(draft.leafCount == draft.node.leafCount)
    }

    @Test(arguments: [
        (.integer(5), nil, .integer(5)), (.integer(-3), .integer(10), .integer(7)), (.number(0.5), .integer(1), .number(1.5)),
        (.integer(2), .string("s"), .integer(2)),
        (.integer(1), .integer(.max), .double(0x1p63)), (.integer(-1), .integer(.min), .double(-0x1p63)),
        (.number(0.5), .number(0.5), .integer(1)),
        (.integer(1), .boolean(true), .integer(1)), (.number(1e308), .number(1.7e308), .number(Double.greatestFiniteMagnitude)),
    ] as [(Leaf, Leaf?, Leaf)])
    func incrementsAreAdded(_ delta: Leaf, _ existing: Leaf?, _ sum: Leaf) {
        #expect(PendingServerValue.increment(delta).resolved(now: 0, existing: existing) == sum)
    }

    @Test func sizesAndDepthAreLimited() throws {
        var limits = DraftLimits(depthAbove: 30)
        #expect(try read(#"{"a":{"b":1}}"#, limits).node.depth == 2)
        #expect(throws: NodeError(kind: .tooDeep(levelsMax: 32))) { try read(#"{"a":{"b":{"c":1}}}"#, limits) }
        #expect(throws: NodeError(kind: .tooDeep(levelsMax: 32))) { try read(#"[[[null]]]"#, limits) }
        limits.depthAbove = 0
        limits.stringBytesMax = 4
        #expect(try read(#""éé""#, limits).node.leaf == .string("éé"))
        #expect(throws: NodeError(kind: .stringTooLong(bytesMax: 4))) { try read(#"["ééa"]"#, limits) }
        let key = String(repeating: "k", count: 768)
        #expect(try read("{\"\(key)\":1}").leafCount == 1)
        #expect(throws: NodeError(kind: .keyTooLong(bytesMax: 768))) { try read("{\"\(key)k\":1}") }
        #expect(throws: NodeError(kind: .keyTooLong(bytesMax: 768))) { try read("{\"\(key)\\u0061\":1}") }
        for opening in ["[", "{\".value\":", "{\"a\":", "{\".priority\":", "{\".sv\":"] {
            #expect(throws: NodeError(kind: .tooDeep(levelsMax: 32))) { try read(String(repeating: opening, count: 100_000)) }
        }
    }

    @Test func prioritiesOfTheirOwnAreRead() throws {
        func priority(_ text: String) throws(NodeError) -> Draft { try Draft(parsingPriority: Array(text.utf8).span) }
        #expect(try priority("1.5").node.leaf == .double(1.5) && priority("\"p\"").node.leaf == .string("p") && priority("null").node.isEmpty)
        #expect(try priority(#"{".sv":"timestamp"}"#).resolved(now: 3) { _ in nil }.leaf == .integer(3))
        for text in ["true", "{\"a\":1}", "[1]", #"{".sv":{"increment":1}}"#, #"{".value":1,".priority":1}"#] {
            #expect(throws: NodeError(kind: .badPriority)) { try priority(text) }
        }
    }

    @Test func manyServerValuesAreResolvedInOnePass() throws {
        let text = "{" + (0..<20_000).map { "\"k\($0)\":{\".sv\":\"timestamp\"}" }.joined(separator: ",") + "}"
        let node = try read(text).resolved(now: 9) { _ in nil }
        #expect(node.children.count == 20_000 && node.children.allSatisfy { $0.node.leaf == .integer(9) })
    }

    @Test func manyServerValuesBesideAMemberThatIsThereTwice() throws {
        let count = 50_000
        let members = (0..<count).map { #""n\#($0)":{".sv":"timestamp"}"# } + [#""n7":1"#]
        let draft = try read("{\(members.joined(separator: ","))}")
        #expect(draft.serverValues.count == count - 1)
        #expect(!draft.serverValues.contains { $0.path == Path(["n7"]) })
        #expect(draft.node.at(Path(["n7"])) == Node(.integer(1)))
    }

    @Test func aServerValueInAValueBesideReplacedMembers() {
        let text = #"{".value":{"p":1,"q":1,"r":{".sv":"timestamp"}},"a":1,"a":2}"#
        #expect { try read(text) } throws: { ($0 as? NodeError)?.kind == .mixedValue }
    }
}
