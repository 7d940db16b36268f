import HearthBytes
import HearthJSON
import Testing

@Suite struct ValueTests {
    @Test func readsAndWritesTheSameText() throws {
        let text = #"{"a":[1,-2,3.5,"x\n\"y\"",true,false,null],"b":{},"c":[],"é😀":"\u0001\\/"}"#
        #expect(try JSONValue(parsing: text).description == text)
    }

    @Test(arguments: [
        (#""\ud83d\ude00""#, "😀"), (#""\ud83d""#, "\u{FFFD}"), (#""\ude00x""#, "\u{FFFD}x"), (#""\ud83d\u0041""#, "\u{FFFD}A"),
        (#""\ud83d\ud83d\ude00""#, "\u{FFFD}😀"), (#""\u0000\u001f\u007f\u00e9\u20ac""#, "\0\u{1F}\u{7F}é€"), (#""a\/b\\c""#, "a/b\\c"),
        (#""\b\f\n\r\t\"""#, "\u{8}\u{C}\n\r\t\""),
    ])
    func resolvesEscapes(_ text: String, _ expected: String) throws {
        #expect(try JSONValue(parsing: text).string == expected)
    }

    @Test func escapesOnlyWhatMustBe() {
        for length in [0, 1, 7, 8, 9, 16] {
            for byte in UInt8(0)..<128 {
                let padding = String(repeating: "x", count: length)
                let text = padding + String(UnicodeScalar(byte)) + padding + "é"
                let written = JSONValue.string(text).description
                let isEscaped = byte < 0x20 || byte == 0x22 || byte == 0x5C
                #expect(isEscaped == written.contains("\\"))
                #expect((try? JSONValue(parsing: written)) == .string(text))
            }
        }
        #expect(JSONValue.string("\u{1}\u{1F}\u{7F}/").description == "\"\\u0001\\u001f\u{7F}/\"")
    }

    @Test func numbersAreEqualByValue() throws {
        #expect(JSONValue.int(3) == .double(3))
        #expect(JSONValue.int(3).hashValue == JSONValue.double(3).hashValue)
        #expect(JSONValue.uint(1 << 63) == .double(0x1p63))
        #expect(JSONValue.uint(1 << 63).hashValue == JSONValue.double(0x1p63).hashValue)
        #expect(JSONValue.int(9_007_199_254_740_993) != .double(9_007_199_254_740_992))
        #expect(JSONValue.uint(3) == .int(3))
        #expect(JSONValue.uint(3).hashValue == JSONValue.int(3).hashValue)
        #expect(JSONValue.double(-0.0) == .int(0))
        #expect(JSONValue.double(-0.0).hashValue == JSONValue.int(0).hashValue)
        #expect(JSONValue.int(1) != .bool(true))
        #expect(JSONValue.null != .bool(false))
        #expect(JSONValue.string("1") != 1)
    }

    @Test func textIsEqualByCodePoint() throws {
        #expect(JSONValue.string("\u{E9}") != .string("e\u{301}"))
        let object: JSONObject = ["\u{E9}": 1, "e\u{301}": 2]
        #expect(object.count == 2)
        #expect(object["\u{E9}"] == 1)
        #expect(try JSONValue(parsing: "{\"\u{E9}\":1,\"e\u{301}\":2}") == .object(object))
    }

    @Test func accessorsTellWhatIsThere() throws {
        let value: JSONValue = ["name": "Ada", "age": 36, "score": 1.5, "tags": ["a", nil], "on": true]
        #expect(value["name"]?.string == "Ada")
        #expect(value["age"]?.int == 36)
        #expect(value["age"]?.double == 36)
        #expect(value["score"]?.int == nil)
        #expect(value["score"]?.double == 1.5)
        #expect(value["tags"]?[0]?.string == "a")
        #expect(value["tags"]?[1]?.isNull == true)
        #expect(value["tags"]?[2] == nil)
        #expect(value["on"]?.bool == true)
        #expect(value["none"] == nil)
        #expect(value["name"]?["x"] == nil)
        #expect(value.object?.keys.elementsEqual(["name", "age", "score", "tags", "on"]) == true)
        #expect(JSONValue.double(3).int == 3)
        #expect(JSONValue.uint(.max).int == nil)
    }

    @Test func setsMembers() {
        var value: JSONValue = nil
        value["a"] = 1
        value["b"] = ["c": 2]
        value["a"] = "x"
        #expect(value.description == #"{"a":"x","b":{"c":2}}"#)
        value["b"] = nil
        #expect(value.description == #"{"a":"x"}"#)
        var text: JSONValue = "x"
        text["gone"] = nil as JSONValue?
        #expect(text == "x")
    }

    @Test func laterNamesWinInTheirFirstPlace() throws {
        #expect(try JSONValue(parsing: #"{"a":1,"b":2,"\u0061":3}"#).description == #"{"a":3,"b":2}"#)
    }

    @Test func largeObjectsAreIndexed() throws {
        var object = JSONObject()
        for number in 0..<1000 { object["k\(number)"] = JSONValue(number) }
        for number in stride(from: 0, to: 1000, by: 2) { object.removeValue(forKey: "k\(number)") }
        object["k1"] = "changed"
        #expect(object.count == 500)
        #expect(object["k2"] == nil)
        #expect(object["k999"] == 999)
        #expect(object.first?.value == "changed")
        #expect(object.keys.first == "k1")
        #expect(try JSONValue(parsing: JSONValue.object(object).serialized()) == .object(object))
        for number in 0..<1000 { object["k\(number)"] = nil }
        #expect(object.isEmpty)
    }

    @Test func objectsAreEqualInAnyOrder() {
        let one: JSONObject = ["a": 1, "b": [2]]
        let other: JSONObject = ["b": [2.0], "a": 1]
        #expect(one == other)
        #expect(one.hashValue == other.hashValue)
        #expect(one != ["a": 1])
        #expect(one != ["a": 1, "c": [2]])
    }

    @Test func appendsToABuffer() {
        var buffer = ByteBuffer()
        buffer.append("data: ")
        JSONValue.array([1, "x"]).write(to: &buffer)
        #expect(buffer.string() == #"data: [1,"x"]"#)
    }
}
