import HearthJSON
import Testing

@Suite struct GrammarTests {
    static let accepted = [
        "null", "true", "false", "0", "-0", "-1", "10", "1.5", "-0.0", "1e5", "1E+5", "1e-5", "0e0", "1.25E-10", "\"\"",
        "[]", "{}", " [ ] ", "\t{\n}\r", "[1]", "[1,2,[3]]", "{\"\":0}", "{\"a\":{\"b\":[]}}", "[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"]",
        "\"\\u0000\"", "\"\\uD83D\\uDE00\"", "\"\\ud800\"", "\"\\udc00\\ud800\"", "\"\u{7F}\u{80}\u{7FF}\u{800}\u{FFFF}\u{10000}\u{10FFFF}\"",
        "\"\u{2028}\u{2029}\"", "1e308", "-1e308", "1e-400", "18446744073709551616", "123456789012345678901234567890",
        "{\"a\":1,\"a\":2}", "[[[[[[[[]]]]]]]]", "{\"a\":1 , \"b\" : 2}", "\"12345678\"", "\"1234567\"", "\"123456789012345\"",
    ]

    @Test(arguments: accepted)
    func takes(_ text: String) throws {
        _ = try JSONScan.validate(Array(text.utf8))
        _ = try JSONValue(parsing: text)
    }

    static let refused: [(String, JSONError.Kind, Int)] = [
        ("", .unexpectedEnd, 0), (" ", .unexpectedEnd, 1), ("nul", .unexpectedEnd, 3), ("nulL", .unexpectedByte, 3),
        ("True", .unexpectedByte, 0), ("NaN", .unexpectedByte, 0), ("Infinity", .unexpectedByte, 0), ("-Infinity", .invalidNumber, 1),
        ("undefined", .unexpectedByte, 0), ("01", .invalidNumber, 0), ("-01", .invalidNumber, 1), ("00", .invalidNumber, 0),
        ("+1", .unexpectedByte, 0), (".5", .unexpectedByte, 0), ("1.", .unexpectedEnd, 2), ("1.e5", .invalidNumber, 2),
        ("1e", .unexpectedEnd, 2), ("1e+", .unexpectedEnd, 3), ("1ex", .invalidNumber, 2), ("-", .unexpectedEnd, 1),
        ("--1", .invalidNumber, 1), ("0x10", .trailingBytes, 1), ("1 2", .trailingBytes, 2), ("{}{}", .trailingBytes, 2),
        ("[]]", .trailingBytes, 2), ("1e400", .numberOutOfRange, 0), ("[-1e999]", .numberOutOfRange, 1),
        ("[", .unexpectedEnd, 1), ("[1", .unexpectedEnd, 2), ("[1,", .unexpectedEnd, 3), ("[1,]", .unexpectedByte, 3),
        ("[,1]", .unexpectedByte, 1), ("[1 2]", .unexpectedByte, 3), ("[1}", .unexpectedByte, 2), ("{]", .unexpectedByte, 1),
        ("{\"a\"}", .unexpectedByte, 4), ("{\"a\":}", .unexpectedByte, 5), ("{\"a\":1,}", .unexpectedByte, 7),
        ("{a:1}", .unexpectedByte, 1), ("{1:1}", .unexpectedByte, 1), ("{'a':1}", .unexpectedByte, 1), ("{,}", .unexpectedByte, 1),
        ("\"", .unexpectedEnd, 1), ("\"abc", .unexpectedEnd, 4), ("\"abcdefghijk", .unexpectedEnd, 12), ("\"\\", .unexpectedEnd, 2),
        ("\"\\x\"", .invalidEscape, 1), ("\"\\u12\"", .invalidEscape, 1), ("\"\\u12", .unexpectedEnd, 5),
        ("\"\\uGGGG\"", .invalidEscape, 1), ("\"a\nb\"", .controlCharacter, 2), ("\"\u{0}\"", .controlCharacter, 1),
        ("\"12345678\u{1F}\"", .controlCharacter, 9), ("\u{FEFF}1", .unexpectedByte, 0), ("/* */1", .unexpectedByte, 0),
        ("\u{A0}1", .unexpectedByte, 0), ("\u{0B}1", .unexpectedByte, 0), ("1\u{0}", .trailingBytes, 1),
    ]

    @Test(arguments: refused)
    func refuses(_ text: String, _ kind: JSONError.Kind, _ offset: Int) {
        let expected = JSONError(kind: kind, offset: offset)
        #expect(throws: expected) { try JSONScan.validate(Array(text.utf8)) }
        #expect(throws: expected) { try JSONValue(parsing: text) }
    }

    static let notUTF8: [[UInt8]] = [
        [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC2], [0xC2, 0x41], [0xE0, 0x9F, 0xBF], [0xE1, 0x80], [0xED, 0xA0, 0x80],
        [0xED, 0xBF, 0xBF], [0xF0, 0x8F, 0xBF, 0xBF], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFF], [0xFE],
        [0xF1, 0x80, 0x80], [0xE2, 0x28, 0xA1], [0xF0, 0x9F, 0x98],
    ]

    @Test(arguments: notUTF8)
    func refusesWhatIsNotUTF8(_ bytes: [UInt8]) {
        for padding in [0, 3, 7, 8, 20] {
            let text = [0x22] + Array(repeating: 0x61, count: padding) + bytes + [0x22]
            #expect(throws: JSONError(kind: .invalidUTF8, offset: padding + 1)) { try JSONScan.validate(text) }
        }
    }

    @Test func limitsDepth() throws {
        func nested(_ depth: Int) -> [UInt8] {
            Array(String(repeating: "[", count: depth).utf8) + Array(String(repeating: "]", count: depth).utf8)
        }
        _ = try JSONScan.validate(nested(512))
        #expect(throws: JSONError(kind: .tooDeep, offset: 512)) { try JSONScan.validate(nested(513)) }
        _ = try JSONValue(parsing: nested(3), limits: JSONLimits(depthMax: 3))
        #expect(throws: JSONError(kind: .tooDeep, offset: 3)) { try JSONValue(parsing: nested(4), limits: JSONLimits(depthMax: 3)) }
        #expect(JSONLimits(depthMax: 1_000_000).depthMax == JSONLimits.depthCeiling)
        #expect(JSONLimits(depthMax: 0).depthMax == 1)
        _ = try JSONValue(parsing: nested(1024), limits: JSONLimits(depthMax: 5000))
    }

    @Test func tellsObjectsFromArraysAtEveryDepth() throws {
        // Around the words of 64 levels that the scanner keeps.
        for depth in [1, 2, 63, 64, 65, 127, 128, 129, 300] {
            var opening = ""
            var closing = ""
            for level in 0..<depth {
                let isObject = level % 3 == 0
                opening += isObject ? "{\"k\":" : "["
                closing = (isObject ? "}" : "]") + closing
            }
            _ = try JSONScan.validate(Array((opening + "0" + closing).utf8))
            let swapped = closing.replacing(/^./) { $0.output == "}" ? "]" : "}" }
            #expect(throws: JSONError.self) { try JSONScan.validate(Array((opening + "0" + swapped).utf8)) }
        }
    }

    @Test func findsLineAndColumn() {
        let text = Array("{\n  \"é\": tru }".utf8)
        #expect(throws: JSONError(kind: .unexpectedByte, offset: 13)) { try JSONScan.validate(text) }
        let location = JSONError(kind: .unexpectedByte, offset: 13).location(in: text.span)
        #expect(location.line == 2)
        #expect(location.column == 11)
    }
}
