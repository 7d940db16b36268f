import HearthJSON
import Testing

@Suite struct DecoderTests {
    func decode<T: Decodable>(_ type: T.Type = T.self, _ text: String) throws -> T {
        try JSONDecoder().decode(type, from: Array(text.utf8))
    }

    enum Colour: String, Codable { case red, blue }
    enum Level: Int, Codable { case low = 1, high }

    enum Shape: Codable, Equatable {
        case dot
        case circle(radius: Double)
        case line(Int, to: Int)
    }

    struct Everything: Codable, Equatable {
        var bool: Bool
        var text: String
        var double: Double
        var float: Float
        var int: Int
        var int8: Int8
        var int16: Int16
        var int32: Int32
        var int64: Int64
        var uint: UInt
        var uint8: UInt8
        var uint16: UInt16
        var uint32: UInt32
        var uint64: UInt64
        var list: [Int]
        var lists: [[String]]
        var map: [String: Double]
        var numbered: [Int: String]
        var colour: Colour
        var level: Level
        var shapes: [Shape]
        var some: String?
        var none: Int?
        var null: [Int]?
        var value: JSONValue
        var maybe: [Int?]
    }

    static let everything = """
        {"bool":true,"text":"h\\u00e9 \\n","double":2.5,"float":0.1,"int":-7,"int8":-128,"int16":32767,"int32":-2147483648,
        "int64":9223372036854775807,"uint":5,"uint8":255,"uint16":65535,"uint32":4294967295,"uint64":18446744073709551615,
        "list":[1,2,3],"lists":[[],["a"],["b","c"]],"map":{"x":1,"y":-1.5e3},"numbered":{"1":"a","2":"b"},
        "colour":"blue","level":2,"shapes":[{"dot":{}},{"circle":{"radius":2}},{"line":{"_0":1,"to":2}}],
        "some":"s","null":null,"value":{"any":[null,1]},"maybe":[1,null,3],"unknown":{"ignored":[{}]}}
        """

    static let decoded = Everything(
        bool: true, text: "hé \n", double: 2.5, float: 0.1, int: -7, int8: -128, int16: 32767, int32: -2_147_483_648, int64: .max,
        uint: 5, uint8: 255, uint16: 65535, uint32: .max, uint64: .max, list: [1, 2, 3], lists: [[], ["a"], ["b", "c"]],
        map: ["x": 1, "y": -1500], numbered: [1: "a", 2: "b"], colour: .blue, level: .high,
        shapes: [.dot, .circle(radius: 2), .line(1, to: 2)], some: "s", none: nil, null: nil, value: ["any": [nil, 1]], maybe: [1, nil, 3])

    @Test func decodesEverything() throws {
        #expect(try decode(Everything.self, Self.everything) == Self.decoded)
        #expect(try JSONDecoder().decode(Everything.self, from: JSONValue(parsing: Self.everything)) == Self.decoded)
    }

    @Test func decodesTopLevelFragments() throws {
        #expect(try decode(Int.self, " 5 ") == 5)
        #expect(try decode(String.self, "\"x\"") == "x")
        #expect(try decode(Bool.self, "false") == false)
        #expect(try decode([Double].self, "[1,2.5]") == [1, 2.5])
        #expect(try decode(Int?.self, "null") == nil)
        #expect(try decode(Int?.self, "3") == 3)
        #expect(try decode(JSONValue.self, "[{}]") == [[:]])
        #expect(try decode(JSONObject.self, #"{"a":1}"#) == ["a": 1])
        #expect(try decode(Colour.self, "\"red\"") == .red)
        #expect(try decode(UInt8.self, "200") == 200)
        #expect(try decode([UInt8].self, "[0,255]") == [0, 255])
    }

    @Test func wholeDoublesAreIntegers() throws {
        #expect(try decode(Int.self, "3.0") == 3)
        #expect(try decode(Int.self, "3e2") == 300)
        #expect(try decode(UInt8.self, "2550e-1") == 255)
        #expect(try decode(Int.self, "-0") == 0)
        #expect(try decode(Int.self, "-0.0") == 0)
    }

    @Test func laterOfEqualNamesCounts() throws {
        struct One: Decodable { var a: Int }
        #expect(try decode(One.self, #"{"a":1,"a":2,"\u0061":3}"#).a == 3)
        #expect(try decode([String: Int].self, #"{"a":1,"b":5,"a":2}"#) == ["a": 2, "b": 5])
    }

    @Test func findsEscapedAndForeignNames() throws {
        #expect(try decode([String: Int].self, #"{"\u0061\n":1,"é":2,"\ud83d\ude00":3,"":4}"#) == ["a\n": 1, "é": 2, "😀": 3, "": 4])
    }

    @Test func largeObjectsAreIndexed() throws {
        var map: [String: Int] = [:]
        for number in 0..<5000 { map["key\(number)"] = number }
        let text = try JSONEncoder().encode(map)
        #expect(try JSONDecoder().decode([String: Int].self, from: text) == map)
        let twice = Array("{\"key1\":1,".utf8) + Array(text.dropFirst(1).dropLast(1)) + Array(",\"key7\":-7,\"ke\\u00798\":-8}".utf8)
        map["key7"] = -7
        map["key8"] = -8
        #expect(try JSONDecoder().decode([String: Int].self, from: twice) == map)
        struct Two: Decodable { var key4999: Int; var key7: Int; var absent: Int? }
        let two = try JSONDecoder().decode(Two.self, from: twice)
        #expect((two.key4999, two.key7, two.absent) == (4999, -7, nil))
    }

    class Base: Codable {
        var base: Int
        init(base: Int) { self.base = base }
    }

    final class Derived: Base {
        var own: String
        private enum Keys: String, CodingKey { case own }

        init(base: Int, own: String) {
            self.own = own
            super.init(base: base)
        }

        required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Keys.self)
            own = try container.decode(String.self, forKey: .own)
            try super.init(from: container.superDecoder())
        }

        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Keys.self)
            let above = container.superEncoder()
            try container.encode(own, forKey: .own)
            try super.encode(to: above)
        }
    }

    @Test func superDecodersAndEncoders() throws {
        let text = #"{"super":{"base":5},"own":"x"}"#
        let derived = try decode(Derived.self, text)
        #expect(derived.base == 5)
        #expect(derived.own == "x")
        #expect(try String(decoding: JSONEncoder().encode(derived), as: UTF8.self) == text)
        #expect(throws: DecodingError.self) { try decode(Derived.self, #"{"own":"x"}"#) }
    }

    struct ByHand: Decodable, Equatable {
        var words: [String]
        var inner: Int
        var hasExtra: Bool
        var tag: String

        enum Keys: String, CodingKey { case list, object, extra }
        enum Inner: String, CodingKey { case value }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Keys.self)
            var list = try container.nestedUnkeyedContainer(forKey: .list)
            words = []
            #expect(list.count == 4)
            while list.currentIndex < 2 { words.append(try list.decode(String.self)) }
            #expect(try list.decodeNil())
            #expect(try !list.decodeNil())
            let last = try list.nestedContainer(keyedBy: Inner.self)
            words.append(try last.decode(String.self, forKey: .value))
            #expect(list.isAtEnd)
            inner = try container.nestedContainer(keyedBy: Inner.self, forKey: .object).decode(Int.self, forKey: .value)
            hasExtra = container.contains(.extra)
            #expect(try container.decodeNil(forKey: .extra))
            #expect(container.allKeys == [.list, .object, .extra])
            tag = decoder.userInfo[.tag] as? String ?? ""
        }
    }

    @Test func containersByHand() throws {
        var decoder = JSONDecoder()
        decoder.userInfo[.tag] = "t"
        let text = Array(#"{"list":["a","b",null,{"value":"c"}],"object":{"value":9},"other":1,"extra":null}"#.utf8)
        let value = try decoder.decode(ByHand.self, from: text)
        #expect(value.words == ["a", "b", "c"])
        #expect(value.inner == 9)
        #expect(value.hasExtra)
        #expect(value.tag == "t")
    }

    /// Keeps its decoder for later.
    final class Keeper: Decodable {
        let decoder: any Decoder
        init(from decoder: any Decoder) throws { self.decoder = decoder }
    }

    @Test func aDecoderDoesNotOutliveItsDecode() throws {
        let keeper = try JSONDecoder().decode(Keeper.self, from: Array(#"{"a":[1,2],"b":3}"#.utf8))
        #expect(throws: DecodingError.self) { try JSONValue(from: keeper.decoder) }
        _ = try decode([Keeper].self, "[9]").map { keeper in
            #expect(throws: DecodingError.self) { try keeper.decoder.container(keyedBy: OneKey.self) }
            #expect(throws: DecodingError.self) { try keeper.decoder.unkeyedContainer() }
            #expect(throws: DecodingError.self) { try keeper.decoder.singleValueContainer().decode(Int.self) }
            #expect(keeper.decoder.codingPath.isEmpty)
            #expect(keeper.decoder.userInfo.isEmpty)
        }
        let containers = try decode(ContainerKeeper.self, #"{"a":[1,2]}"#)
        var list = containers.list
        #expect(list.isAtEnd)
        #expect(throws: DecodingError.self) { try list.decode(Int.self) }
        #expect(containers.object.allKeys.isEmpty)
        #expect(!containers.object.contains(.a))
        #expect(throws: DecodingError.self) { try containers.object.decode([Int].self, forKey: .a) }
        #expect(throws: DecodingError.self) { try containers.object.decodeIfPresent([Int].self, forKey: .a) }
    }

    enum OneKey: String, CodingKey { case a }

    final class ContainerKeeper: Decodable {
        let object: KeyedDecodingContainer<OneKey>
        let list: any UnkeyedDecodingContainer
        init(from decoder: any Decoder) throws {
            object = try decoder.container(keyedBy: OneKey.self)
            list = try object.nestedUnkeyedContainer(forKey: .a)
        }
    }

    struct Nesting: Decodable {
        let inner: [Int]
        init(from decoder: any Decoder) throws {
            let text = try decoder.singleValueContainer().decode(String.self)
            inner = try JSONDecoder().decode([Int].self, from: Array(text.utf8))
            #expect(try decoder.singleValueContainer().decode(String.self) == text)
        }
    }

    @Test func decodersNest() throws {
        #expect(try decode([Nesting].self, #"["[1,2]","[3]"]"#).map(\.inner) == [[1, 2], [3]])
    }

    @Test func threadsDecodeAtOnce() async throws {
        let text = Array(Self.everything.utf8)
        let decoder = JSONDecoder()
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<50 {
                        guard let value = try? decoder.decode(Everything.self, from: text), value == Self.decoded,
                            let written = try? JSONEncoder().encode(value),
                            (try? decoder.decode(Everything.self, from: written)) == value
                        else { return false }
                    }
                    return true
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }
}

extension CodingUserInfoKey {
    static var tag: CodingUserInfoKey { CodingUserInfoKey(rawValue: "tag") ?? { preconditionFailure("a key takes any name") }() }
}
