import HTTP
import Testing

@Suite struct AnswerTests {
    private func answer(_ request: String, toHead: Bool = false) throws -> RawAnswer {
        let client = try TestServer().connectKept()
        client.value.send(request)
        return client.value.readAnswer(toHead: toHead)
    }

    private func get(_ path: String, _ version: String = "1.1") throws -> RawAnswer {
        try answer("GET \(path) HTTP/\(version)\r\nHost: a\r\n\r\n")
    }

    @Test func dateIsThere() throws {
        let date = try get("/hello").fields["date"] ?? ""
        #expect(date.wholeMatch(of: #/(Sun|Mon|Tue|Wed|Thu|Fri|Sat), \d\d [A-Z][a-z][a-z] \d{4} \d\d:\d\d:\d\d GMT/#) != nil, "\(date)")
    }

    @Test(arguments: ["/hello", "/info", "/pieces", "/measured", "/big"]) func headHasNoBody(_ path: String) throws {
        let client = try TestServer().connectKept()
        client.value.send("HEAD \(path) HTTP/1.1\r\nHost: a\r\n\r\n")
        let toHead = client.value.readAnswer(toHead: true)
        #expect(toHead.status == 200)
        client.value.send("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n")
        let toGet = client.value.readAnswer()
        #expect(!toGet.body.isEmpty)
        if path != "/info" { #expect(toHead.fields["content-length"] == toGet.fields["content-length"]) }
        #expect(toHead.fields["transfer-encoding"] == toGet.fields["transfer-encoding"])
    }

    @Test func refusalOfHeadHasNoBody() throws {
        let client = try TestServer().connectKept()
        client.value.send("HEAD /tiny HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\n")
        #expect(client.value.readAnswer(toHead: true).status == 413)
        #expect(client.value.isAtEnd())
    }

    @Test(arguments: [("/nothing", 204), ("/unmodified", 304)]) func bodylessStatus(_ path: String, _ status: Int) throws {
        let client = try TestServer().connectKept()
        client.value.send("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\nGET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
        let answer = client.value.readAnswer()
        #expect(answer.status == status)
        #expect(answer.fields["content-length"] == nil)
        #expect(answer.fields["transfer-encoding"] == nil)
        #expect(client.value.readAnswer().text == "hello")
    }

    @Test func unknownLengthIsChunked() throws {
        let answer = try get("/pieces")
        #expect(answer.fields["transfer-encoding"] == "chunked")
        #expect(answer.fields["content-length"] == nil)
        #expect(answer.text == "hello world")
    }

    @Test func unknownLengthEndsTheConnectionForHTTP10() throws {
        let text = try TestServer().exchange("GET /pieces HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
        #expect(text.hasSuffix("\r\n\r\nhello world"))
        #expect(text.contains("Connection: close\r\n"))
        #expect(!text.contains("chunked"))
    }

    @Test func knownLengthIsStated() throws {
        let answer = try get("/measured")
        #expect(answer.fields["content-length"] == "11")
        #expect(answer.text == "hello world")
    }

    @Test func answersThatEndEarlyCloseTheConnection() throws {
        let client = try TestServer().connectKept()
        client.value.send("GET /short HTTP/1.1\r\nHost: a\r\n\r\nGET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
        let answer = client.value.readAnswer()
        #expect(answer.fields["content-length"] == "20")
        #expect(answer.text == "hello world")
        #expect(client.value.isAtEnd())
    }

    @Test func abortedAnswersAreCut() throws {
        let answer = try get("/aborted")
        #expect(answer.body.count < 100)
    }

    @Test func fieldsCannotBeInjected() throws {
        let answer = try get("/injected")
        #expect(answer.fields["x-evil"] == nil)
        #expect(answer.fields["x-text"] == "a  X-Evil: 1    body")
        #expect(answer.fields["x-bad name"] == nil)
        #expect(answer.fields["content-length"] == "2")
        #expect(answer.fields["transfer-encoding"] == nil)
        #expect(answer.text == "ok")
    }

    @Test func largeAnswersWaitForTheClient() throws {
        let server = try TestServer()
        let client = RawClient(port: server.port, receiveBufferBytes: 4096)
        client.send("GET /big HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(server.log.wait(for: "congested"))
        let answer = client.readAnswer()
        #expect(answer.body.count == 8 << 20)
        #expect(answer.body.allSatisfy { $0 == UInt8(ascii: "b") })
    }

    /// A client that asks and asks but takes no answer is not read from any more, and gets everything in the end.
    @Test func greedyPipelinesAreHeldBack() throws {
        let server = try TestServer()
        let client = server.connect()
        let count = 10
        client.send(String(repeating: "GET /big HTTP/1.1\r\nHost: a\r\n\r\n", count: count))
        for _ in 0..<count where client.readAnswer().body.count != 8 << 20 {
            Issue.record("an answer is not complete")
            break
        }
    }

    @Test func errorsCanCarryWhatTheHandlerWants() throws {
        let server = try TestServer()
        _ = server.onLoop { _, routes in
            routes.errorContent = HTTPErrorBody(
                contentType: "application/json", fields: [("Access-Control-Allow-Origin", "*")],
                body: Array(#"{"error":{"status":"INVALID_ARGUMENT"}}"#.utf8))
        }
        let client = server.connect()
        client.send("POST /tiny HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\n")
        let answer = client.readAnswer()
        #expect(answer.status == 413)
        #expect(answer.fields["content-type"] == "application/json")
        #expect(answer.fields["access-control-allow-origin"] == "*")
        #expect(answer.text == #"{"error":{"status":"INVALID_ARGUMENT"}}"#)
    }
}
