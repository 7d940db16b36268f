import CZlib
import HTTP
import Testing

@Suite struct CompressionTests {
    /// Compresses with zlib: 31 is gzip, 15 zlib's own format, -15 the bare data.
    static func compress(_ bytes: [UInt8], windowBits: Int32) -> [UInt8] {
        var stream = z_stream()
        deflateInit2_(&stream, 6, Z_DEFLATED, windowBits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        defer { deflateEnd(&stream) }
        var input = bytes
        var output = [UInt8](repeating: 0, count: bytes.count + 1000)
        let count = input.withUnsafeMutableBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output in
                stream.next_in = input.baseAddress
                stream.avail_in = UInt32(input.count)
                stream.next_out = output.baseAddress
                stream.avail_out = UInt32(output.count)
                deflate(&stream, Z_FINISH)
                return output.count - Int(stream.avail_out)
            }
        }
        return Array(output[..<count])
    }

    private func post(_ path: String, _ body: [UInt8], coding: String, chunked: Bool = false) -> [UInt8] {
        let start = "POST \(path) HTTP/1.1\r\nHost: a\r\nContent-Encoding: \(coding)\r\n"
        if chunked {
            return Array((start + "Transfer-Encoding: chunked\r\n\r\n\(String(body.count, radix: 16))\r\n").utf8) + body
                + Array("\r\n0\r\n\r\n".utf8)
        }
        return Array((start + "Content-Length: \(body.count)\r\n\r\n").utf8) + body
    }

    private static let text = Array(String(repeating: "hello world ", count: 5000).utf8)

    @Test(arguments: [("gzip", Int32(31)), ("x-gzip", 31), ("GZip", 31), ("deflate", 15), ("deflate", -15)], [false, true])
    func bodiesAreDecompressed(_ coding: (String, Int32), chunked: Bool) throws {
        let client = try TestServer().connectKept()
        let body = Self.compress(Self.text, windowBits: coding.1)
        client.value.send(post("/echo", body, coding: coding.0, chunked: chunked))
        #expect(client.value.readAnswer().body == Self.text)
        client.value.send(post("/count", body, coding: coding.0, chunked: chunked))
        #expect(client.value.readAnswer().text == "\(Self.text.count)")
    }

    @Test func byteByByte() throws {
        let client = try TestServer().connectKept()
        for byte in post("/echo", Self.compress(Self.text, windowBits: 31), coding: "gzip") { client.value.send([byte]) }
        #expect(client.value.readAnswer().body == Self.text)
    }

    @Test func gzipOfSeveralMembers() throws {
        let client = try TestServer().connectKept()
        let member = Self.compress(Array("hello".utf8), windowBits: 31)
        client.value.send(post("/echo", member + member, coding: "gzip"))
        #expect(client.value.readAnswer().text == "hellohello")
    }

    @Test func identityIsNoCoding() throws {
        let client = try TestServer().connectKept()
        client.value.send(post("/echo", Array("hello".utf8), coding: "identity"))
        #expect(client.value.readAnswer().text == "hello")
    }

    @Test(arguments: ["br", "gzip, gzip", "zstd", "gzip\r\nContent-Encoding: gzip"]) func otherCodingsAreRefused(_ coding: String) throws {
        let server = try TestServer()
        let client = server.connect()
        client.send(post("/echo", [1, 2, 3], coding: coding))
        let answer = client.readAnswer()
        #expect(answer.status == 415)
        #expect(answer.fields["accept-encoding"] == "gzip, deflate")
        #expect(client.isAtEnd())
        #expect(!server.log.all.contains("head /echo"))
    }

    @Test(arguments: [31, 15] as [Int32]) func damagedBodiesAreRefused(_ windowBits: Int32) throws {
        let server = try TestServer()
        let whole = Self.compress(Self.text, windowBits: windowBits)
        var flipped = whole
        flipped[whole.count - 2] ^= 0x55
        let cut = Array(whole.dropLast(3))
        let trailed = whole + [1, 2, 3]
        for body in [flipped, cut, trailed, [0], [31, 139]] {
            let client = server.connect()
            client.send(post("/echo", body, coding: windowBits == 31 ? "gzip" : "deflate"))
            #expect(client.readAnswer().status == 400)
            #expect(client.isAtEnd())
        }
        #expect(!server.log.all.contains("request /echo"))
    }

    /// A thousandfold growth is stopped at the limit, collected or streamed, however it is packed.
    @Test(arguments: ["/echo", "/count"]) func bombsAreRefused(_ path: String) throws {
        var limits = HTTPLimits()
        limits.bodyBytesMax = 2 << 20
        let server = try TestServer(limits: limits)
        let bomb = Self.compress([UInt8](repeating: 0, count: 64 << 20), windowBits: 31)
        #expect(bomb.count < 100_000)
        for chunked in [false, true] {
            let client = server.connect()
            client.send(post(path, bomb, coding: "gzip", chunked: chunked))
            #expect(client.readAnswer().status == 413)
            #expect(client.isAtEnd())
        }
        #expect(!server.log.all.contains("received all"))
    }
}
