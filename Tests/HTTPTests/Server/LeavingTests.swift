import HTTP
import Testing

/// Clients that go away, and servers that do.
@Suite struct LeavingTests {
    private func request(_ path: String, _ rest: String = "\r\n") -> String { "POST \(path) HTTP/1.1\r\nHost: a\r\n\(rest)" }

    @Test(arguments: [false, true]) func clientGoesDuringTheWork(_ isReset: Bool) throws {
        let server = try TestServer()
        let client = server.connect()
        client.send(request("/later"))
        #expect(server.log.wait(for: "request /later"))
        if isReset { client.reset() } else { client.finishSending() }
        #expect(server.log.wait(for: "gone /later"))
        _ = server.onLoop { _, routes in routes.answerHeld("too late") }
        #expect(server.drains())
    }

    @Test(arguments: ["/echo", "/count"], [false, true]) func clientGoesDuringTheBody(_ path: String, _ isReset: Bool) throws {
        let server = try TestServer()
        let client = server.connect()
        client.send(request(path, "Content-Length: 100\r\n\r\nhello"))
        #expect(server.log.wait(for: "head \(path)"))
        if isReset { client.reset() } else { client.finishSending() }
        #expect(server.log.wait(for: "gone \(path)"))
        #expect(server.drains())
        #expect(!server.log.all.contains("received all") && !server.log.all.contains("request \(path)"))
    }

    @Test(arguments: [false, true]) func clientGoesDuringTheAnswer(_ isReset: Bool) throws {
        let server = try TestServer()
        do {
            let client = RawClient(port: server.port, receiveBufferBytes: 4096)
            client.send(request("/big"))
            #expect(server.log.wait(for: "congested"))
            if isReset { client.reset() }
        }
        #expect(server.log.wait(for: "gone /big"))
        #expect(server.drains())
    }

    @Test func clientGoesDuringTheHead() throws {
        let server = try TestServer()
        let client = server.connect()
        client.send("GET /hello HTTP/1.1\r\nHo")
        client.finishSending()
        #expect(client.isAtEnd())
        #expect(server.drains())
    }

    @Test func answersOfThisTurnReachAClientThatHasFinished() throws {
        let server = try TestServer()
        let client = server.connect()
        client.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\nGET /pieces HTTP/1.1\r\nHost: a\r\n\r\n")
        client.finishSending()
        #expect(client.readAnswer().text == "hello")
        #expect(client.readAnswer().text == "hello world")
        #expect(client.isAtEnd())
    }

    @Test func heldExchangesNeverAnswerAnotherRequest() throws {
        let server = try TestServer()
        do {
            let client = server.connect()
            client.send(request("/later"))
            #expect(server.log.wait(for: "request /later"))
            client.reset()
        }
        #expect(server.log.wait(for: "gone /later"))
        let other = server.connect()
        other.send(request("/pieces"))
        #expect(other.readAnswer().text == "hello world")
        other.send(request("/later"))
        #expect(server.log.wait(for: "request /later", count: 2))
        _ = server.onLoop { _, routes in routes.answerHeld("mine") }
        #expect(other.readAnswer().text == "mine")
        other.send(request("/hello"))
        #expect(other.readAnswer().text == "hello")
    }

    // MARK: Draining

    @Test func drainWithoutConnections() throws {
        #expect(try TestServer().drains())
    }

    @Test func drainClosesIdleConnections() throws {
        let server = try TestServer()
        let idle = server.connect()
        idle.send(request("/hello"))
        #expect(idle.readAnswer().text == "hello")
        let fresh = server.connect()
        #expect(server.drains())
        #expect(idle.isAtEnd())
        #expect(fresh.isAtEnd())
    }

    @Test func drainWaitsForAnswers() throws {
        let server = try TestServer()
        let client = server.connect()
        client.send(request("/later") + request("/hello"))
        #expect(server.log.wait(for: "request /later"))
        let log = server.log
        _ = server.onLoop { server, _ in server.drain(withinMilliseconds: 60_000) { log.add("drained") } }
        let idle = server.connect()
        #expect(idle.isAtEnd())
        #expect(!log.all.contains("drained"))
        _ = server.onLoop { _, routes in routes.answerHeld("at last") }
        let answer = client.readAnswer()
        #expect(answer.text == "at last")
        #expect(answer.fields["connection"] == "close")
        #expect(client.isAtEnd())
        client.finishSending()
        #expect(log.wait(for: "drained"))
        #expect(!log.all.contains("head /hello"))
    }

    @Test func drainAnswersARequestThatIsHalfHere() throws {
        let server = try TestServer()
        let client = server.connect()
        client.send(request("/echo", "Content-Length: 5\r\n\r\nhe"))
        #expect(server.log.wait(for: "head /echo"))
        let log = server.log
        _ = server.onLoop { server, _ in server.drain(withinMilliseconds: 60_000) { log.add("drained") } }
        client.send("llo")
        let answer = client.readAnswer()
        #expect(answer.text == "hello")
        #expect(answer.fields["connection"] == "close")
    }

    @Test func drainEndsInTime() throws {
        let server = try TestServer()
        let client = server.connect()
        client.send(request("/later"))
        #expect(server.log.wait(for: "request /later"))
        #expect(server.drains(withinMilliseconds: 50))
        #expect(server.log.all.contains("gone /later"))
        #expect(client.isAtEnd())
    }

    /// Every request that is sent before its client knew of the end is answered.
    @Test func drainUnderLoad() throws {
        let server = try TestServer()
        let outcomes = EventLog()
        let count = 8
        let request = request("/echo", "Content-Length: 5\r\n\r\nhello")
        for _ in 0..<count {
            let client = Box(server.connect())
            spawn {
                while true {
                    client.value.send(request)
                    let answer = client.value.readAnswer()
                    if answer.text != "hello" { outcomes.add("dropped") }
                    if answer.text != "hello" || answer.fields["connection"] == "close" { break }
                }
                outcomes.add("finished")
            }
        }
        #expect(server.log.wait(for: "request /echo", count: 1000))
        #expect(server.drains())
        #expect(outcomes.wait(for: "finished", count: count))
        #expect(!outcomes.all.contains("dropped"))
    }

    @Test func twoThousandConnectionsAtOnce() throws {
        let server = try TestServer()
        let clients = (0..<2000).map { _ in server.connect() }
        for client in clients { client.send(request("/echo", "Content-Length: 10\r\n\r\nhello")) }
        for client in clients { client.send("world") }
        for client in clients { #expect(client.readAnswer().text == "helloworld") }
        #expect(server.onLoop { server, _ in server.connectionCount } == 2000)
        #expect(server.drains())
        for client in clients { #expect(client.isAtEnd()) }
    }
}
