import HearthBytes
import HearthJSON
import Testing

@Suite struct ScanTests {
    @Test(arguments: [
        ("{\"@type\":1}", true), ("{\"a\":[{\"@type\":\"x\"}]}", true), ("{\"\\u0040type\":1}", true), ("{\"@typ\\u0065\":1}", true),
        ("{\"@types\":1}", false), ("{\"type\":1}", false), ("[\"@type\"]", false), ("{\"a\":\"@type\"}", false),
        ("{\"@Type\":1}", false), ("{\"x\\ntype\":1}", false), ("{\"@type\\u0000\":1}", false),
    ])
    func seesTypeKeys(_ text: String, _ expected: Bool) throws {
        #expect(try JSONScan.validate(Array(text.utf8)).hasTypeKey == expected)
    }

    @Test(arguments: [
        ("9007199254740991", false), ("-9007199254740991", false), ("9007199254740992", true), ("-9007199254740992", true),
        ("9007199254740993.0", false), ("1e300", false), ("99999999999999999999999999", true), ("[1,[2,10000000000000000]]", true),
        ("\"9007199254740993\"", false), ("1000000000000000", false), ("-100000000000000", false),
    ])
    func seesBigIntegers(_ text: String, _ expected: Bool) throws {
        #expect(try JSONScan.validate(Array(text.utf8)).hasBigInteger == expected)
    }

    @Test(arguments: [
        ("null", JSONKind.null), ("true", .bool), (" false ", .bool), ("-1", .number), ("\"x\"", .string), ("[{}]", .array), ("{\"a\":[]}", .object),
    ])
    func seesKind(_ text: String, _ expected: JSONKind) throws {
        #expect(try JSONScan.validate(Array(text.utf8)).kind == expected)
    }

    struct Row: Sendable {
        let text: String
        let value: String?
        var kind = JSONKind.null
        var others = false
    }

    @Test(arguments: [
        Row(text: "{\"data\":{\"a\":1}}", value: "{\"a\":1}", kind: .object),
        Row(text: " { \"data\" : [1, 2] } ", value: "[1, 2]", kind: .array),
        Row(text: "{\"d\\u0061ta\":true}", value: "true", kind: .bool),
        Row(text: "{\"data\":1,\"data\":\"two\"}", value: "\"two\"", kind: .string),
        Row(text: "{\"data\":null}", value: "null", kind: .null),
        Row(text: "{\"data\":-1.5e3,\"x\":null}", value: "-1.5e3", kind: .number, others: true),
        Row(text: "{\"Data\":1}", value: nil, others: true),
        Row(text: "{\"x\":{\"data\":1}}", value: nil, others: true),
        Row(text: "{}", value: nil),
        Row(text: "[{\"data\":1}]", value: nil),
        Row(text: "\"data\"", value: nil),
        Row(text: "{\"data\":false}", value: "false", kind: .bool),
    ])
    func findsMember(_ row: Row) throws {
        let bytes = Array(row.text.utf8)
        let envelope = try JSONScan.member("data", of: bytes.span)
        #expect(envelope.value.map { String(decoding: bytes[$0], as: UTF8.self) } == row.value)
        #expect(envelope.kind == row.kind)
        #expect(envelope.hasOtherMembers == row.others)
        #expect(envelope.facts == (try JSONScan.validate(bytes)))
    }

    @Test func refusesBrokenEnvelopes() {
        #expect(throws: JSONError(kind: .unexpectedEnd, offset: 10)) { try JSONScan.member("data", of: Array("{\"data\":12".utf8).span) }
        #expect(throws: JSONError(kind: .trailingBytes, offset: 11)) { try JSONScan.member("data", of: Array("{\"data\":12}x".utf8).span) }
    }

    @Test func handsMembersOn() throws {
        let text = Array("{\"a\":1,\"\\u0062\":{\"c\":[2,{}]},\"a\":\"x\",\"\":[ ]}".utf8)
        var seen: [String] = []
        let facts = try JSONScan.members(of: text.span) { name, value, kind in
            seen.append("\(name.string())=\(String(decoding: text[value], as: UTF8.self)) \(kind)")
        }
        #expect(seen == ["a=1 number", "b={\"c\":[2,{}]} object", "a=\"x\" string", "=[ ] array"])
        #expect(facts.kind == .object)
    }
}
