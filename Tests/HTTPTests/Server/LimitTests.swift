import Glibc
import HTTP
import Testing

@Suite struct LimitTests {
    private func refused(_ request: String, limits: HTTPLimits = HTTPLimits()) throws -> Int {
        let client = try TestServer(limits: limits).connectKept()
        client.value.send(request)
        let answer = client.value.readAnswer()
        #expect(answer.fields["connection"] == "close")
        #expect(client.value.isAtEnd())
        return answer.status
    }

    @Test func headTooLarge() throws {
        let field = "X: " + String(repeating: "x", count: 1000) + "\r\n"
        #expect(try refused("GET / HTTP/1.1\r\nHost: a\r\n" + String(repeating: field, count: 17) + "\r\n") == 431)
        #expect(try refused("GET / HTTP/1.1\r\nHost: a\r\nX: " + String(repeating: "x", count: 20_000)) == 431)
    }

    @Test func targetTooLong() throws {
        let target = "/" + String(repeating: "x", count: 8192)
        #expect(try refused("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n") == 414)
        #expect(try refused("GET \(target)\(target)") == 414)
    }

    @Test func targetOfExactlyTheLimit() throws {
        let server = try TestServer()
        let client = server.connect()
        client.send("GET /\(String(repeating: "x", count: 8191)) HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(client.readAnswer().status == 200)
    }

    @Test func tooManyFields() throws {
        var limits = HTTPLimits()
        limits.headerCountMax = 5
        #expect(try refused("GET / HTTP/1.1\r\nHost: a\r\n" + String(repeating: "X: y\r\n", count: 5) + "\r\n", limits: limits) == 431)
        let client = try TestServer(limits: limits).connectKept()
        client.value.send("GET / HTTP/1.1\r\nHost: a\r\n" + String(repeating: "X: y\r\n", count: 4) + "\r\n")
        #expect(client.value.readAnswer().status == 200)
    }

    @Test func tooManyConnections() throws {
        var limits = HTTPLimits()
        limits.connectionsMax = 2
        let server = try TestServer(limits: limits)
        let clients = [server.connect(), server.connect()]
        for client in clients {
            client.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(client.readAnswer().text == "hello")
        }
        let third = server.connect()
        #expect(third.readAnswer().status == 503)
        #expect(third.isAtEnd())
    }

    // MARK: Time

    @Test func slowHeads() throws {
        var limits = HTTPLimits()
        limits.headTimeoutMilliseconds = 100
        let server = try TestServer(limits: limits)
        let client = server.connect()
        client.send("GET / HTTP/1.1\r\nHo")
        #expect(client.readAnswer().status == 408)
        #expect(client.isAtEnd())
    }

    /// One byte now and then does not prolong the time for a head.
    @Test func dripping() throws {
        var limits = HTTPLimits()
        limits.headTimeoutMilliseconds = 150
        let server = try TestServer(limits: limits)
        let client = Box(server.connect())
        spawn {
            while client.value.send("x") { sched_yield() }
        }
        #expect(client.value.readAnswer().status == 408 || server.log.all.contains("refused 414"))
    }

    @Test func silenceFromTheStart() throws {
        var limits = HTTPLimits()
        limits.headTimeoutMilliseconds = 100
        #expect(try TestServer(limits: limits).connectKept().value.isAtEnd())
    }

    @Test func silenceAfterAnAnswer() throws {
        var limits = HTTPLimits()
        limits.idleTimeoutMilliseconds = 100
        let server = try TestServer(limits: limits)
        let client = server.connect()
        client.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(client.readAnswer().text == "hello")
        #expect(client.isAtEnd())
    }

    @Test(arguments: ["/echo", "/count"]) func slowBodies(_ path: String) throws {
        var limits = HTTPLimits()
        limits.bodyTimeoutMilliseconds = 100
        let server = try TestServer(limits: limits)
        let client = server.connect()
        client.send("POST \(path) HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nhello")
        #expect(client.readAnswer().status == 408)
        #expect(client.isAtEnd())
        #expect(server.log.wait(for: "gone \(path)"))
    }

    /// The handler's own time does not count against the client.
    @Test func workMayTakeLong() throws {
        var limits = HTTPLimits()
        limits.bodyTimeoutMilliseconds = 40
        limits.headTimeoutMilliseconds = 40
        limits.idleTimeoutMilliseconds = 40
        limits.writeTimeoutMilliseconds = 40
        let server = try TestServer(limits: limits)
        let client = server.connect()
        client.send("GET /later HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(server.log.wait(for: "request /later"))
        let other = server.connect()
        #expect(other.isAtEnd())
        _ = server.onLoop { _, routes in routes.answerHeld("at last") }
        #expect(client.readAnswer().text == "at last")
    }

    @Test func answersThatNobodyTakes() throws {
        var limits = HTTPLimits()
        limits.writeTimeoutMilliseconds = 200
        let server = try TestServer(limits: limits)
        let client = RawClient(port: server.port, receiveBufferBytes: 4096)
        client.send("GET /big HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(server.log.wait(for: "gone /big"))
    }

    /// A client that sends the whole body before it reads still learns that it was refused.
    @Test func refusedBodiesAreSentToTheirEnd() throws {
        var limits = HTTPLimits()
        limits.lingerMilliseconds = 1000
        let server = try TestServer(limits: limits)
        let client = server.connect()
        let length = 50 << 20
        client.send("POST /tiny HTTP/1.1\r\nHost: a\r\nContent-Length: \(length)\r\n\r\n")
        #expect(client.send([UInt8](repeating: 1, count: length)))
        #expect(client.readAnswer().status == 413)
        #expect(client.isAtEnd())
    }

    @Test func lingeringIsBounded() throws {
        var limits = HTTPLimits()
        limits.lingerMilliseconds = 20
        let server = try TestServer(limits: limits)
        let client = server.connect()
        client.send("POST /tiny HTTP/1.1\r\nHost: a\r\nContent-Length: 100000000000\r\n\r\n")
        while client.send([UInt8](repeating: 1, count: 1000)) {}
        #expect(server.drains())
    }

    @Test func lingeringEnds() throws {
        var limits = HTTPLimits()
        limits.lingerMilliseconds = 50
        let server = try TestServer(limits: limits)
        let client = server.connect()
        client.send("GET /hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        #expect(client.readAnswer().text == "hello")
        #expect(server.drains())
    }
}
