import HearthBytes
import HearthJSON
import Testing

@Suite struct WriterTests {
    @Test func setsCommas() {
        let bytes = JSONWriter.bytes { json in
            json.object { json in
                json.member("a", 1)
                json.member("b", "x\"y")
                json.key("c")
                json.array { json in
                    json.null()
                    json.bool(true)
                    json.number(2.5)
                    json.object { _ in }
                    json.array { _ in }
                    json.raw("[ ]")
                    json.value(["k": nil])
                }
                json.member("d", false)
                json.key("quote\"")
                json.string(Array("é\n".utf8).span)
            }
        }
        #expect(
            String(decoding: bytes, as: UTF8.self)
                == #"{"a":1,"b":"x\"y","c":[null,true,2.5,{},[],[ ],{"k":null}],"d":false,"quote\"":"é\n"}"#)
    }

    @Test func appendsToWhatIsThere() {
        var buffer = ByteBuffer()
        buffer.append("data: ")
        JSONWriter.write(to: &buffer) { json in
            json.object { json in
                json.key("result")
                json.raw(Array("[1]".utf8).span)
            }
        }
        buffer.append("\n\n")
        #expect(buffer.string() == "data: {\"result\":[1]}\n\n")
    }

    @Test func givesTheBufferBackWhenTheBodyThrows() {
        struct Stop: Error {}
        var buffer = ByteBuffer()
        buffer.append("x")
        #expect(throws: Stop.self) {
            try JSONWriter.write(to: &buffer) { json in
                json.null()
                throw Stop()
            }
        }
        #expect(buffer.string() == "xnull")
    }

    @Test func appendsSingleValues() {
        var buffer = ByteBuffer()
        buffer.append(jsonString: "a\u{0}b")
        buffer.append(jsonString: Array("\\".utf8).span)
        buffer.append(jsonNumber: 1e21)
        buffer.append(jsonNumber: .nan)
        #expect(buffer.string() == #""a\u0000b""\\"1e+21null"#)
    }
}
