import HearthJSON
import Testing

/// Types that write their containers manually, in any order.
@Suite struct EncoderNestingTests {
    struct Key: CodingKey, ExpressibleByStringLiteral {
        var stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
        init(stringLiteral value: String) { stringValue = value }
    }

    struct Custom: Encodable {
        let body: (any Encoder) throws -> Void
        func encode(to encoder: any Encoder) throws { try body(encoder) }
    }

    func encode(_ body: @escaping (any Encoder) throws -> Void) throws -> String {
        String(decoding: try JSONEncoder().encode(Custom(body: body)), as: UTF8.self)
    }

    @Test func nestedContainersInterleave() throws {
        let text = try encode { encoder in
            var top = encoder.container(keyedBy: Key.self)
            var one = top.nestedContainer(keyedBy: Key.self, forKey: "one")
            var two = top.nestedUnkeyedContainer(forKey: "two")
            try two.encode(1)
            try one.encode("a", forKey: "x")
            try top.encode(true, forKey: "three")
            try two.encode(2)
            var deep = one.nestedUnkeyedContainer(forKey: "deep")
            try two.encode([3])
            try one.encode(["k": 4], forKey: "y")
            try deep.encode("z")
            _ = top.nestedUnkeyedContainer(forKey: "empty")
        }
        #expect(text == #"{"one":{"x":"a","deep":["z"],"y":{"k":4}},"two":[1,2,[3]],"three":true,"empty":[]}"#)
    }

    @Test func superEncodersInterleave() throws {
        let text = try encode { encoder in
            var list = encoder.unkeyedContainer()
            let first = list.superEncoder()
            let second = list.superEncoder()
            let third = list.superEncoder()
            try list.encode("last")
            #expect(list.count == 4)
            try "b".encode(to: second)
            try [1].encode(to: first)
            _ = third
        }
        #expect(text == #"[[1],"b",{},"last"]"#)
    }

    @Test func oneEncoderGivesOneContainer() throws {
        let text = try encode { encoder in
            var one = encoder.container(keyedBy: Key.self)
            try one.encode(1, forKey: "a")
            var other = encoder.container(keyedBy: Key.self)
            try other.encode(2, forKey: "b")
            try one.encode(3, forKey: "c")
        }
        #expect(text == #"{"a":1,"b":2,"c":3}"#)
    }

    @Test func nestedInsideValues() throws {
        let inner = Custom { encoder in
            var container = encoder.container(keyedBy: Key.self)
            var nested = container.nestedUnkeyedContainer(forKey: "n")
            try container.encode("after", forKey: "x")
            try nested.encode(1)
        }
        let text = try encode { encoder in
            var list = encoder.unkeyedContainer()
            try list.encode(inner)
            try list.encode([inner])
        }
        #expect(text == #"[{"n":[1],"x":"after"},[{"n":[1],"x":"after"}]]"#)
    }

    @Test func aSingleValueHandsOn() throws {
        #expect(try encode { var single = $0.singleValueContainer(); try single.encode([1, 2]) } == "[1,2]")
        #expect(try encode { var single = $0.singleValueContainer(); try single.encodeNil() } == "null")
        #expect(try encode { var single = $0.singleValueContainer(); try single.encode(UInt8(7)) } == "7")
        #expect(try encode { var single = $0.singleValueContainer(); try single.encode("x") } == "\"x\"")
        #expect(try encode { var single = $0.singleValueContainer(); try single.encode(DecoderTests.Shape.dot) } == #"{"dot":{}}"#)
    }

    @Test func whatFailedLeavesNothing() throws {
        let failing = Custom { encoder in
            var container = encoder.container(keyedBy: Key.self)
            var nested = container.nestedUnkeyedContainer(forKey: "n")
            try nested.encode(1)
            try container.encode("half", forKey: "x")
            try container.encode(Double.nan, forKey: "y")
        }
        let text = try encode { encoder in
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(1, forKey: "a")
            #expect(throws: EncodingError.self) { try container.encode(failing, forKey: "b") }
            #expect(throws: EncodingError.self) { try container.encode(Double.infinity, forKey: "c") }
            try container.encode(2, forKey: "d")
            var list = container.nestedUnkeyedContainer(forKey: "e")
            #expect(throws: EncodingError.self) { try list.encode(failing) }
            try list.encode(3)
        }
        #expect(text == #"{"a":1,"d":2,"e":[3]}"#)
    }

    @Test func valuesThatEncodeNothing() throws {
        let nothing = Custom { _ in }
        #expect(throws: EncodingError.self) { try JSONEncoder().encode(nothing) }
        #expect(try encode { var list = $0.unkeyedContainer(); try list.encode(nothing); try list.encode(1) } == "[{},1]")
    }

    @Test func misuseIsAnError() throws {
        #expect(throws: EncodingError.self) {
            try encode { encoder in
                _ = encoder.container(keyedBy: Key.self)
                _ = encoder.unkeyedContainer()
            }
        }
        #expect(throws: EncodingError.self) {
            try encode { encoder in
                var single = encoder.singleValueContainer()
                try single.encode(1)
                try single.encode(2)
            }
        }
        #expect(throws: EncodingError.self) {
            try encode { encoder in
                var list = encoder.unkeyedContainer()
                let inner = list.superEncoder()
                _ = inner.unkeyedContainer()
                _ = inner.container(keyedBy: Key.self)
            }
        }
        var kept: KeyedEncodingContainer<Key>?
        #expect(try encode { kept = $0.container(keyedBy: Key.self) } == "{}")
        #expect(throws: EncodingError.self) { try kept?.encode(1, forKey: "late") }
        _ = kept?.nestedContainer(keyedBy: Key.self, forKey: "late")
        #expect(try encode { try [1].encode(to: $0) } == "[1]")
    }

    @Test func paths() throws {
        _ = try encode { encoder in
            #expect(encoder.codingPath.isEmpty)
            var container = encoder.container(keyedBy: Key.self)
            try container.encode("{\"[", forKey: "quoted\"")
            #expect(container.codingPath.isEmpty)
            var list = container.nestedUnkeyedContainer(forKey: "list")
            #expect(list.codingPath.map(\.stringValue) == ["list"])
            try list.encode([0])
            try list.encode(Custom { inner in
                #expect(inner.codingPath.map(\.stringValue) == ["list", "Index 1"])
                var container = inner.container(keyedBy: Key.self)
                try container.encode(Custom { #expect($0.codingPath.map(\.stringValue) == ["list", "Index 1", "deep"]) }, forKey: "deep")
            })
        }
    }
}
