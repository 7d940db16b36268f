import HearthBytes
import HearthJSON
import Testing

import AdminProtocol
@testable import CallFrontEnd
@testable import FunctionDispatch

@Suite("Callable body")
struct CallableBodyTests {
    @Test(
        "one object with data and nothing else",
        arguments: [
            ("{\"data\":1}", "1"), (" {\"data\" : {\"data\":2}} \n", "{\"data\":2}"), ("{\"data\":1,\"data\":[2]}", "[2]"),
            ("{\"d\\u0061ta\":null}", "null"),
        ])
    func accepts(_ body: String, _ data: String) throws {
        let bytes = Array(body.utf8)
        let found = CallableBody(bytes.span)
        let parsed = try #require(found)
        #expect(String(decoding: bytes[parsed.data], as: UTF8.self) == data)
        #expect(parsed.unwrapped == nil)
    }

    @Test(
        "everything else is refused",
        arguments: [
            "", "{}", "[{\"data\":1}]", "{\"Data\":1}", "{\"data\":1,\"x\":null}", "{\"data\":1,\"__proto__\":{}}", "{\"data\":1} x",
            "{\"data\":NaN}",
            "\"data\"", "{\"data\":",
        ])
    func refuses(_ body: String) {
        let parsed = CallableBody(Array(body.utf8).span)
        #expect(parsed == nil)
    }

    @Test("nesting is bounded")
    func boundsDepth() {
        func body(_ depth: Int) -> [UInt8] {
            Array(("{\"data\":" + String(repeating: "[", count: depth) + String(repeating: "]", count: depth) + "}").utf8)
        }
        let shallow = CallableBody(body(500).span)
        let deep = CallableBody(body(513).span)
        #expect(shallow != nil)
        #expect(deep == nil)
    }

    @Test(
        "content types",
        arguments: [
            ("application/json", true), ("Application/JSON ; charset=UTF-8", true), ("application/json;foo=bar", true),
            ("application/json; charset=\"utf-8\"", true), ("application/json; charset=iso-8859-1", false), ("text/plain", false),
            ("application/jsonp", false), ("application/vnd.api+json", false), ("", false),
        ])
    func contentTypes(_ type: String, _ isAccepted: Bool) {
        let result = CallableBody.accepts(contentType: Array(type.utf8).span)
        #expect(result == isAccepted)
    }
}

@Suite("Integer wrappers")
struct IntegerWrapperTests {
    static let signed = "type.googleapis.com/google.protobuf.Int64Value"
    static let unsigned = "type.googleapis.com/google.protobuf.UInt64Value"

    @Test("are exact at the ends of both types, at any depth", arguments: ["-9223372036854775808", "9223372036854775807", "0", "-1"])
    func unwrapsSigned(_ digits: String) throws {
        let value = try JSONValue(parsing: "{\"a\":[{\"value\":\"\(digits)\",\"@type\":\"\(Self.signed)\"}]}")
        #expect(IntegerWrappers.unwrap(value)?.description == "{\"a\":[\(digits)]}")
    }

    @Test("of unsigned integers reach beyond those of signed ones")
    func unwrapsUnsigned() throws {
        let value = try JSONValue(parsing: "{\"@type\":\"\(Self.unsigned)\",\"value\":\"18446744073709551615\"}")
        #expect(IntegerWrappers.unwrap(value)?.description == "18446744073709551615")
    }

    @Test(
        "that make no sense are refused",
        arguments: ["\"abc\"", "\"9223372036854775808\"", "\"1.5\"", "1.5", "null", "\"\"", "\" 1\"", "[1]"])
    func refuses(_ content: String) throws {
        #expect(IntegerWrappers.unwrap(try JSONValue(parsing: "{\"@type\":\"\(Self.signed)\",\"value\":\(content)}")) == nil)
    }

    @Test("of another type stay maps", arguments: ["type.googleapis.com/foo.Bar", "", "type.googleapis.com/google.protobuf.BytesValue"])
    func keepsUnknown(_ type: String) throws {
        let text = "{\"@type\":\"\(type)\",\"value\":\"AAEC\"}"
        #expect(IntegerWrappers.unwrap(try JSONValue(parsing: text))?.description == text)
    }

    @Test("are put around what a double cannot hold, and nothing else")
    func wraps() {
        #expect(IntegerWrappers.wrap(.int(9_007_199_254_740_991)) == .int(9_007_199_254_740_991))
        #expect(IntegerWrappers.wrap([.int(-9_007_199_254_740_992)])[0]?["value"] == "-9007199254740992")
        #expect(IntegerWrappers.wrap(["a": .uint(.max)])["a"]?["@type"]?.string == Self.unsigned)
    }
}

@Suite("Callable answer")
struct CallableAnswerTests {
    static func result(_ value: String) -> String? {
        var buffer = ByteBuffer()
        return CallableAnswer.append("result", Array(value.utf8).span, to: &buffer) ? buffer.string() : nil
    }

    @Test("holds the function's JSON as it is, null for nothing, and no nonsense")
    func results() {
        #expect(Self.result("{\"a\":1}") == "{\"result\":{\"a\":1}}")
        #expect(Self.result("") == "{\"result\":null}")
        #expect(Self.result("nonsense") == nil)
        #expect(Self.result("1 2") == nil)
        #expect(Self.result("9007199254740993")?.contains("\"value\":\"9007199254740993\"") == true)
    }

    static func error(_ body: String) -> String {
        var buffer = ByteBuffer()
        CallableAnswer.append(error: CallableError(functionError: Array(body.utf8).span), to: &buffer)
        return buffer.string()
    }

    @Test("of a failed function has its code, message and details; anything else is INTERNAL")
    func errors() {
        #expect(
            Self.error("{\"code\":\"not-found\",\"message\":\"no \\\"x\\\"\",\"details\":null}")
                == "{\"error\":{\"details\":null,\"message\":\"no \\\"x\\\"\",\"status\":\"NOT_FOUND\"}}")
        for nonsense in ["", "[]", "{\"code\":\"no-such\",\"message\":\"secret\"}", "{\"message\":\"secret\"}", "{\"code\":\"aborted\"}"] {
            #expect(Self.error(nonsense) == "{\"error\":{\"message\":\"INTERNAL\",\"status\":\"INTERNAL\"}}")
        }
    }

    @Test("codes are named, and map to HTTP as the protocol says")
    func codes() {
        #expect(FunctionErrorCode.allCases.count == 17)
        for code in FunctionErrorCode.allCases {
            #expect(FunctionErrorCode(name: code.name) == code)
            #expect("\(code.status)" == code.name.uppercased().replacing("-", with: "_"))
        }
    }
}
