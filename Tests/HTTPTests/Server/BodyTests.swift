import HTTP
import Testing

@Suite struct BodyTests {
    private let post = SmugglingTests.post

    @Test func aBodySplitAnywhereIsTheSame() throws {
        let server = try TestServer()
        let requests = [
            post + "Content-Length: 11\r\n\r\nhello world",
            SmugglingTests.chunked + "5\r\nhello\r\n6;x\r\n world\r\n0\r\nA: b\r\n\r\n",
        ]
        for request in requests.map({ Array($0.utf8) }) {
            let client = server.connect()
            for split in 1..<request.count {
                client.send(Array(request[..<split]))
                client.send(Array(request[split...]))
                #expect(client.readAnswer().text == "hello world", "split at \(split)")
            }
        }
    }

    @Test func largeBodiesComeBack() throws {
        let server = try TestServer()
        let body = (0..<900_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        let client = server.connect()
        client.send(Array((post + "Content-Length: \(body.count)\r\n\r\n").utf8) + body)
        #expect(client.readAnswer().body == body)
        var chunks = Array(SmugglingTests.chunked.utf8)
        for start in stride(from: 0, to: body.count, by: 7777) {
            let chunk = body[start..<min(start + 7777, body.count)]
            chunks += Array((String(chunk.count, radix: 16) + "\r\n").utf8) + chunk + [13, 10]
        }
        client.send(chunks + Array("0\r\n\r\n".utf8))
        #expect(client.readAnswer().body == body)
    }

    // MARK: Expect

    @Test func continueIsSentWhenTheBodyIsWanted() throws {
        let server = try TestServer()
        let client = server.connect()
        client.send(post + "Content-Length: 5\r\nExpect: 100-Continue\r\n\r\n")
        #expect(client.readAnswer().head == "HTTP/1.1 100 Continue\r\n\r\n")
        client.send("hello")
        #expect(client.readAnswer().text == "hello")
    }

    @Test func continueIsNotSentWhenTheBodyIsThere() throws {
        let client = try TestServer().connectKept()
        client.value.send(post + "Content-Length: 5\r\nExpect: 100-continue\r\n\r\nhello")
        #expect(client.value.readAnswer().text == "hello")
    }

    @Test(arguments: [("/refused", 5, 404), ("/tiny", 11, 413)]) func continueIsNotSentWhenTheBodyIsNotWanted(
        path: String, length: Int, status: Int
    ) throws {
        let client = try TestServer().connectKept()
        client.value.send("POST \(path) HTTP/1.1\r\nHost: a\r\nContent-Length: \(length)\r\nExpect: 100-continue\r\n\r\n")
        let answer = client.value.readAnswer()
        #expect(answer.status == status)
        #expect(answer.fields["connection"] == "close")
        #expect(client.value.isAtEnd())
    }

    @Test func otherExpectationsAreRefused() throws {
        let client = try TestServer().connectKept()
        client.value.send(post + "Content-Length: 5\r\nExpect: miracles\r\n\r\nhello")
        #expect(client.value.readAnswer().status == 417)
        #expect(client.value.isAtEnd())
    }

    // MARK: Limits of the handler

    @Test func lengthOverTheHandlersLimit() throws {
        let server = try TestServer()
        let client = server.connect()
        client.send("POST /tiny HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\n")
        #expect(client.readAnswer().status == 413)
        #expect(client.isAtEnd())
        #expect(!server.log.all.contains("request /tiny"))
    }

    @Test func chunksOverTheHandlersLimit() throws {
        let server = try TestServer()
        let client = server.connect()
        client.send("POST /tiny HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nhello \r\n5\r\nworld\r\n")
        #expect(client.readAnswer().status == 413)
        #expect(client.isAtEnd())
        #expect(server.log.all.contains("gone /tiny"))
    }

    @Test func bodyOverTheServersLimit() throws {
        var limits = HTTPLimits()
        limits.bodyBytesMax = 1000
        let server = try TestServer(limits: limits)
        for framing in ["Content-Length: 1001\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n3e9\r\n"] {
            let client = server.connect()
            client.send("POST /count HTTP/1.1\r\nHost: a\r\n" + framing + String(repeating: "x", count: 1001))
            #expect(client.readAnswer().status == 413)
            #expect(client.isAtEnd())
        }
    }

    @Test func endlessChunkExtensionsAndTrailers() throws {
        let server = try TestServer()
        for start in ["5;", "0\r\nA: "] {
            let client = server.connect()
            client.send(SmugglingTests.chunked + start + String(repeating: "x", count: 9000))
            #expect(client.readAnswer().status == 431)
            #expect(client.isAtEnd())
        }
    }

    // MARK: Streaming

    @Test func streamedBodiesArriveInPieces() throws {
        let server = try TestServer()
        let client = server.connect()
        client.send("POST /count HTTP/1.1\r\nHost: a\r\nContent-Length: 3000000\r\n\r\n")
        for _ in 0..<30 { client.send([UInt8](repeating: 1, count: 100_000)) }
        #expect(client.readAnswer().text == "3000000")
        client.send("POST /count HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n")
        #expect(client.readAnswer().text == "5")
    }

    @Test func aPausedBodyStaysWithTheClient() throws {
        let server = try TestServer()
        let client = Box(server.connect())
        let length = 20 << 20
        client.value.send("POST /patient HTTP/1.1\r\nHost: a\r\nContent-Length: \(length)\r\n\r\n")
        let done = EventLog()
        spawn {
            client.value.send([UInt8](repeating: 1, count: length))
            done.add("sent")
        }
        #expect(server.log.wait(for: "paused"))
        #expect(done.all.isEmpty, "20 MiB cannot be in the buffers of the kernel")
        #expect(resumeToTheEnd(server))
        #expect(client.value.readAnswer().text == "\(length)")
    }

    /// A body that is complete already is still held back from a handler that begins with a pause.
    @Test func aPauseFromTheStart() throws {
        let server = try TestServer()
        let client = server.connect()
        client.send("POST /patient HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhelloGET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(server.log.wait(for: "paused"))
        #expect(server.onLoop { _, _ in true } == true)
        #expect(server.log.all == ["head /patient", "paused"])
        #expect(resumeToTheEnd(server))
        #expect(client.readAnswer().text == "5")
        #expect(client.readAnswer().text == "hello")
    }

    private func resumeToTheEnd(_ server: TestServer) -> Bool {
        while !server.log.all.contains("received all") {
            guard server.onLoop({ _, routes in routes.resumeHeld() }) != nil else { return false }
        }
        return true
    }
}
