import HearthBytes
import HearthJSON
import Testing

@Suite struct EncoderTests {
    func encode<T: Encodable>(_ value: T) throws -> String { String(decoding: try JSONEncoder().encode(value), as: UTF8.self) }

    @Test func encodesEverything() throws {
        let text = try JSONEncoder().encode(DecoderTests.decoded)
        #expect(try JSONDecoder().decode(DecoderTests.Everything.self, from: text) == DecoderTests.decoded)
    }

    @Test func keepsTheOrderOfMembers() throws {
        struct Answer: Encodable {
            var firstNumber = 3.0
            var secondNumber = 0.5
            var `operator` = "+"
            var absent: Int?
            var isRight = true
            var big = UInt64.max
            var list: [Int8] = [-1, 2]
            var inner = ["k\"": Float(1.5)]
        }
        let expected = #"{"firstNumber":3,"secondNumber":0.5,"operator":"+","isRight":true,"big":18446744073709551615"#
        #expect(try encode(Answer()) == expected + #","list":[-1,2],"inner":{"k\"":1.5}}"#)
    }

    @Test func encodesFragments() throws {
        #expect(try encode(5) == "5")
        #expect(try encode("a\"b") == #""a\"b""#)
        #expect(try encode(true) == "true")
        #expect(try encode(nil as Int?) == "null")
        #expect(try encode([1, nil, 3]) == "[1,null,3]")
        #expect(try encode([[Int]]()) == "[]")
        #expect(try encode([[], [1]]) == "[[],[1]]")
        #expect(try encode(JSONValue.array([1, ["a": nil]])) == #"[1,{"a":null}]"#)
        #expect(try encode(["x": ["b": 1, "a": 2] as JSONObject]) == #"{"x":{"b":1,"a":2}}"#)
        #expect(try encode(DecoderTests.Shape.line(1, to: 2)) == #"{"line":{"_0":1,"to":2}}"#)
        #expect(try encode([DecoderTests.Shape.dot, .circle(radius: 0.5)]) == #"[{"dot":{}},{"circle":{"radius":0.5}}]"#)
        #expect(try encode(-2.5 as Float) == "-2.5")
        #expect(try encode([Int64.min]) == "[-9223372036854775808]")
    }

    @Test func appendsToABuffer() throws {
        var buffer = ByteBuffer()
        buffer.append("data: ")
        try JSONEncoder().encode(["a": [DecoderTests.Shape.dot]], into: &buffer)
        try JSONEncoder().encode("x", into: &buffer)
        #expect(buffer.string() == #"data: {"a":[{"dot":{}}]}"x""#)
        #expect(throws: EncodingError.self) { try JSONEncoder().encode([1, Double.nan], into: &buffer) }
        #expect(buffer.string() == #"data: {"a":[{"dot":{}}]}"x""#)
    }

    struct Measured: Encodable {
        var readings: [String: [Double]]
        var name = "n"
    }

    private func path(_ value: some Encodable) -> String {
        do {
            return try "encoded \(encode(value))"
        } catch EncodingError.invalidValue(_, let context) {
            return context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".")
        } catch {
            return "\(error)"
        }
    }

    @Test func refusesWhatIsNotFinite() {
        #expect(path(Double.nan) == "")
        #expect(path([1, -Double.infinity]) == "1")
        #expect(path(Measured(readings: ["a,\"]": [1, 2, .nan]])) == "readings.a,\"].2")
        #expect(path([[Float](), [.infinity]]) == "1.0")
        #expect(path(["x": [DecoderTests.Shape.dot, .circle(radius: .nan)]]) == "x.1.circle.radius")
        #expect(path(["x": Double.nan]) == "x")
    }

    @Test func largeDoublesCanBeToldApart() throws {
        struct Mixed: Encodable {
            var double = 1e17
            var integer = 100_000_000_000_000_000
            var float: Float = 0x1p60
            var edge = 9_007_199_254_740_992.0
            var below = -9_007_199_254_740_991.0
            var half = 0.5
            var tree: JSONValue = [.double(1e20), .int(.max)]
            var list = [-1e16]
        }
        #expect(
            try String(decoding: JSONEncoder(largeDoubles: .exponent).encode(Mixed()), as: UTF8.self)
                == #"{"double":1e+17,"integer":100000000000000000,"float":1.1529215e+18,"edge":9.007199254740992e+15,"#
                + #""below":-9007199254740991,"half":0.5,"tree":[1e+20,9223372036854775807],"list":[-1e+16]}"#)
        #expect(
            try encode(Mixed())
                == #"{"double":100000000000000000,"integer":100000000000000000,"float":1152921500000000000,"edge":9007199254740992,"#
                + #""below":-9007199254740991,"half":0.5,"tree":[100000000000000000000,9223372036854775807],"list":[-10000000000000000]}"#)
    }

    @Test func makesTrees() throws {
        #expect(try JSONEncoder().encodeValue(DecoderTests.Shape.circle(radius: 2)) == ["circle": ["radius": 2]])
        #expect(try JSONEncoder().encodeValue(JSONValue.string("x")) == "x")
    }

    @Test func userInfoReachesEveryEncoder() throws {
        struct Tagged: Encodable {
            func encode(to encoder: any Encoder) throws {
                try (encoder.userInfo[.tag] as? String ?? "none").encode(to: encoder)
            }
        }
        struct Holder: Encodable {
            func encode(to encoder: any Encoder) throws {
                var list = encoder.unkeyedContainer()
                try list.encode(Tagged())
                var nested = list.nestedUnkeyedContainer()
                try nested.encode(Tagged())
                try Tagged().encode(to: list.superEncoder())
            }
        }
        var encoder = JSONEncoder()
        encoder.userInfo[.tag] = "t"
        #expect(try String(decoding: encoder.encode(Holder()), as: UTF8.self) == #"["t",["t"],"t"]"#)
        #expect(try encode(Holder()) == #"["none",["none"],"none"]"#)
    }
}
