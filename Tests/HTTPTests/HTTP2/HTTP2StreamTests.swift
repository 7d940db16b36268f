import Testing

@testable import HTTP

/// Streams of HTTP/2 as the handler sees them, and their answers as the client sees them.
@Suite struct HTTP2StreamTests {
    private func start(_ change: (inout HTTPLimits) -> Void = { _ in }, windowBytes: UInt32? = nil) throws -> (TestServer, FrameClient) {
        var limits = HTTPLimits()
        change(&limits)
        let server = try TestServer(limits: limits)
        let client = FrameClient(port: server.port, windowBytes: windowBytes)
        client.server = server
        return (server, client)
    }

    // MARK: Requests and answers

    @Test func theHandlerSeesAHeadOfHTTP1() throws {
        let (_, client) = try start()
        let answer = client.answer(client.request("/info?x=1", method: "GET", fields: [("x-name", "y"), ("cookie", "a=1"), ("cookie", "b=2")]))
        #expect(answer.text == "GET /info ? x=1 @ a\nhost=a\nx-name=y\ncookie=a=1; b=2")
        #expect(answer.status == 200)
        #expect(answer["date"] != nil && answer["content-length"] == "\(answer.body.count)")
    }

    @Test func bodies() throws {
        let (_, client) = try start()
        let stream = client.request("/echo", ends: false)
        client.data(stream, Array("hello, ".utf8))
        client.data(stream, Array("world".utf8), ends: true)
        #expect(client.answer(stream).text == "hello, world")
        // Lent in place: the whole body in one frame, and its length is known.
        let other = client.request("/echo", fields: [("content-length", "5")], ends: false)
        client.data(other, Array("hello".utf8), ends: true)
        #expect(client.answer(other).text == "hello")
    }

    @Test(arguments: [("/nothing", 204), ("/unmodified", 304)]) func answersWithoutBody(_ path: String, _ status: Int) throws {
        let (_, client) = try start()
        let answer = client.answer(client.request(path))
        #expect(answer.status == status && answer.body.isEmpty && answer.dataFrames == 0 && answer["content-length"] == nil)
    }

    @Test(arguments: ["/hello", "/pieces", "/measured", "/echo"]) func answersToHead(_ path: String) throws {
        let (_, client) = try start()
        let answer = client.answer(client.request(path, method: "HEAD"))
        #expect(answer.status == 200 && answer.body.isEmpty && answer.dataFrames == 0)
        #expect(path != "/hello" || answer["content-length"] == "5")
    }

    @Test func piecesOfATurnAreOneFrame() throws {
        let (_, client) = try start()
        let pieces = client.answer(client.request("/pieces"))
        #expect(pieces.text == "hello world" && pieces.dataFrames == 1 && pieces["content-length"] == nil)
        #expect(client.answer(client.request("/measured"))["content-length"] == "11")
    }

    @Test func fieldsAreCleanedAndNamesLowered() throws {
        let (_, client) = try start()
        let answer = client.answer(client.request("/injected"))
        #expect(answer["x-text"] == "a  X-Evil: 1    body")
        #expect(answer["x-evil"] == nil && answer["transfer-encoding"] == nil && answer["content-length"] == "2")
        #expect(answer.fields.allSatisfy { $0.name == $0.name.lowercased() })
    }

    @Test(arguments: ["/short", "/aborted"]) func incompleteAnswersAreReset(_ path: String) throws {
        let (_, client) = try start()
        #expect(client.answer(client.request(path)).reset == 2)
        #expect(client.answer(client.request("/hello")).text == "hello")
    }

    @Test func answersInAnyOrder() throws {
        let (server, client) = try start()
        let later = client.request("/later")
        #expect(client.answer(client.request("/hello")).text == "hello")
        _ = server.onLoop { _, routes in routes.answerHeld("at last") }
        #expect(client.answer(later).text == "at last")
    }

    @Test func anAnswerBeforeTheBodyEndsTheStream() throws {
        let (_, client) = try start()
        let stream = client.request("/refused", ends: false)
        #expect(client.read { client.answers[stream]?.reset != nil })
        let answer = client.answers[stream]
        #expect(answer?.status == 404 && answer?.isEnded == true && answer?.reset == 0)
    }

    @Test func tooLargeBodies() throws {
        let (server, client) = try start()
        #expect(client.answer(client.request("/tiny", fields: [("content-length", "11")], ends: false)).status == 413)
        let stream = client.request("/tiny", ends: false)
        client.data(stream, Array("hello, world".utf8))
        #expect(client.answer(stream).status == 413)
        #expect(server.log.wait(for: "gone /tiny", count: 2))
    }

    @Test func thePrefaceBehindARequestIsNone() throws {
        let server = try TestServer()
        let client = server.connect()
        client.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n\(String(decoding: FrameClient.preface, as: UTF8.self))")
        #expect(client.readAnswer().text == "hello")
        #expect(client.readAnswer().status == 505)
    }

    // MARK: Back-pressure

    @Test func aPausedBodyHoldsUpItsStreamOnly() throws {
        let (server, client) = try start()
        // The settings of the server hold once they are acknowledged.
        client.settle()
        let stream = client.request("/patient", ends: false)
        let piece = [UInt8](repeating: 7, count: 16 * 1024)
        for _ in 0..<16 { client.data(stream, piece) }
        // The window of the connection is open again, that of the stream is not.
        #expect(client.answer(client.request("/hello")).text == "hello")
        #expect(client.opened[stream] == nil)
        #expect((client.opened[0] ?? 0) >= (1 << 20) - 65535)
        for round in 1...20 where client.opened[stream] == nil {
            #expect(server.log.wait(for: "paused", count: round))
            _ = server.onLoop { _, routes in routes.resumeHeld() }
            client.settle()
        }
        #expect(client.opened[stream] != nil)
        client.data(stream, piece, ends: true)
        for _ in 0..<40 where client.answers[stream] == nil {
            _ = server.onLoop { _, routes in routes.resumeHeld() }
            client.settle()
        }
        #expect(client.answer(stream).text == "\(17 * 16 * 1024)")
    }

    @Test func aWriterWaitsForTheWindow() throws {
        let (server, client) = try start()
        let stream = client.request("/big")
        #expect(server.log.wait(for: "congested"))
        client.read { (client.answers[stream]?.body.count ?? 0) >= 65535 }
        client.settle()
        #expect(client.answers[stream]?.body.count == 65535)
        client.open(0, 16 << 20)
        client.open(stream, 16 << 20)
        #expect(client.answer(stream).body.count == 8 << 20)
    }

    @Test func aWindowThatStaysClosed() throws {
        let (server, client) = try start({ $0.writeTimeoutMilliseconds = 100 }, windowBytes: 0)
        let stream = client.request("/big")
        #expect(client.answer(stream).reset == 8)
        #expect(server.log.wait(for: "gone /big"))
        // Answers without a body need no window.
        #expect(client.answer(client.request("/nothing")).status == 204)
    }

    // MARK: Ends

    @Test func aClientThatCancels() throws {
        let (server, client) = try start()
        let stream = client.request("/later")
        #expect(server.log.wait(for: "request /later"))
        client.send(.reset, 0, stream, FrameClient.bytes(8))
        #expect(server.log.wait(for: "gone /later"))
        _ = server.onLoop { _, routes in routes.answerHeld("too late") }
        #expect(client.answer(client.request("/hello")).text == "hello")
    }

    @Test func aClientThatLeaves() throws {
        let (server, client) = try start()
        for _ in 0..<5 { _ = client.request("/later") }
        #expect(server.log.wait(for: "request /later", count: 5))
        client.raw.finishSending()
        #expect(server.log.wait(for: "gone /later", count: 5))
        #expect(server.drains())
    }

    @Test func draining() throws {
        let (server, client) = try start()
        let idle = FrameClient(port: server.port)
        #expect(idle.answer(idle.request("/hello")).text == "hello")
        let stream = client.request("/later")
        #expect(server.log.wait(for: "request /later"))
        _ = server.onLoop { [log = server.log] server, _ in server.drain(withinMilliseconds: 60_000) { log.add("drained") } }
        idle.readToEnd()
        #expect(idle.endings == [0, 0])
        // A request that was sent before the client knew is served.
        client.read { client.endings == [0] }
        let late = client.request("/hello")
        #expect(client.answer(late).text == "hello")
        _ = server.onLoop { _, routes in routes.answerHeld("at last") }
        #expect(client.answer(stream).text == "at last")
        client.readToEnd()
        #expect(server.log.wait(for: "drained"))
    }

    @Test func noRequestStartsWhileTheServerHolds() throws {
        let (server, client) = try start()
        let stream = client.request("/later")
        #expect(server.log.wait(for: "request /later"))
        #expect(server.onLoop { server, _ in server.busyCount } == 1)
        _ = server.onLoop { server, _ in server.holdRequests() }
        #expect(client.answer(client.request("/hello")).reset == 7)
        _ = server.onLoop { server, _ in server.endHolding() }
        #expect(client.answer(client.request("/hello")).text == "hello")
        _ = server.onLoop { _, routes in routes.answerHeld("at last") }
        #expect(client.answer(stream).text == "at last")
    }

    @Test func connectionsThatAreReleased() throws {
        let (server, client) = try start()
        let stream = client.request("/later")
        #expect(server.log.wait(for: "request /later"))
        _ = server.onLoop { [log = server.log] server, _ in
            server.holdRequests()
            server.releaseConnections(to: { _ in log.add("released") }, completion: { log.add("all released") })
        }
        client.read { client.endings.count == 2 }
        _ = server.onLoop { _, routes in routes.answerHeld("at last") }
        #expect(client.answer(stream).text == "at last")
        client.readToEnd()
        #expect(server.log.wait(for: "all released"))
        #expect(!server.log.all.contains("released"))
    }
}

@Suite struct AllowanceTests {
    /// Whether each of these amounts can be spent, at times in milliseconds.
    private func spent(_ acts: [(count: Int, time: UInt64)], earning earned: Int = 0) -> [Bool] {
        var allowance = Allowance(10, perSecond: 2, now: 5000)
        return acts.map { count, time in
            allowance.earn(earned)
            return allowance.spend(count, time)
        }
    }

    @Test func itIsUsedUpAndGrantedAnew() {
        #expect(spent([(10, 5000), (1, 5999)]) == [true, false])
        #expect(spent([(10, 5000), (1, 5500), (1, 6000), (1, 6100), (1, 6200)]) == [true, false, true, true, false])
        #expect(spent(Array(repeating: (1, 5000), count: 11)) == Array(repeating: true, count: 10) + [false])
    }

    @Test func itNeverExceedsItsBeginning() {
        #expect(spent([(10, 1_000_000), (1, 1_000_000)]) == [true, true])
        #expect(spent([(10, 5000), (10, 1_000_000), (1, 1_000_000)]) == [true, true, false])
        #expect(spent([(10, 5000), (10, 5000), (11, 5000)], earning: 1000) == [true, true, false])
    }
}
