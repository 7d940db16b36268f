import Testing

/// A request that is out of the ordinary and still good.
struct AcceptedCase: CustomTestStringConvertible, Sendable {
    let name: String
    let request: String
    let answer: String

    init(_ name: String, _ request: String, _ answer: String) {
        self.name = name
        self.request = request
        self.answer = answer
    }

    var testDescription: String { name }
}

@Suite struct AcceptanceTests {
    static let cases: [AcceptedCase] = [
        .init("query", "GET /info?a=b&c=%20d HTTP/1.1\r\nHost: a\r\n\r\n", "GET /info ? a=b&c=%20d @ a\nHost=a"),
        .init("empty query", "GET /info? HTTP/1.1\r\nHost: a\r\n\r\n", "GET /info ?  @ a\nHost=a"),
        .init(
            "absolute target", "GET http://b:80/info?x HTTP/1.1\r\nHost: a\r\nX: 1\r\n\r\n",
            "GET /info ? x @ b:80\nHost=b:80\nX=1"),
        .init(
            "absolute target, capitals", "GET HTTPS://B.example/info HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET /info ?  @ B.example\nHost=B.example"),
        .init("space around values", "GET /info HTTP/1.1\r\nHost: \t a \t \r\nX:\r\nY:y\r\n\r\n", "GET /info ?  @ a\nHost=a\nX=\nY=y"),
        .init("empty host", "GET /info HTTP/1.1\r\nHost:\r\n\r\n", "GET /info ?  @ \nHost="),
        .init("address as host", "GET /info HTTP/1.1\r\nHost: [::1]:80\r\n\r\n", "GET /info ?  @ [::1]:80\nHost=[::1]:80"),
        .init("value that is not ASCII", "GET /info HTTP/1.1\r\nHost: a\r\nX: ä\r\n\r\n", "GET /info ?  @ a\nHost=a\nX=ä"),
        .init("tab in a value", "GET /info HTTP/1.1\r\nHost: a\r\nX: a\tb\r\n\r\n", "GET /info ?  @ a\nHost=a\nX=a\tb"),
        .init("fields of one name", "GET /info HTTP/1.1\r\nHost: a\r\nX: 1\r\nX: 2\r\n\r\n", "GET /info ?  @ a\nHost=a\nX=1\nX=2"),
        .init("blank line first", "\r\nGET /info HTTP/1.1\r\nHost: a\r\n\r\n", "GET /info ?  @ a\nHost=a"),
        .init("length of zero", "POST /info HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n", "POST /info ?  @ a\nHost=a\nContent-Length=0"),
        .init("length with zeros", "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 005\r\n\r\nhello", "hello"),
        .init("chunked in capitals", SmugglingTests.post + "TRANSFER-ENCODING: Chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", "hello"),
        .init("chunk size with zeros", SmugglingTests.chunked + "0005\r\nhello\r\n000\r\n\r\n", "hello"),
        .init("chunk sizes in both cases", SmugglingTests.chunked + "a\r\n0123456789\r\nB\r\n0123456789a\r\n0\r\n\r\n", "01234567890123456789a"),
        .init("chunk extensions", SmugglingTests.chunked + "5;a=b;c=\"d\"\r\nhello\r\n0;e\r\n\r\n", "hello"),
        .init("trailers", SmugglingTests.chunked + "5\r\nhello\r\n0\r\nX: y\r\nContent-Length: 9\r\n\r\n", "hello"),
        .init(
            "upgrade is passed over", "GET /info HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n",
            "GET /info ?  @ a\nHost=a\nConnection=Upgrade\nUpgrade=h2c"),
        .init(
            "upgrade with a body", SmugglingTests.post + "Connection: Upgrade\r\nUpgrade: x\r\nContent-Length: 5\r\n\r\nhello", "hello"),
        .init("PATCH", "PATCH /info HTTP/1.1\r\nHost: a\r\n\r\n", "PATCH /info ?  @ a\nHost=a"),
        .init("GET with a body", "GET /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello", "hello"),
    ]

    @Test(arguments: cases) func isAnswered(_ accepted: AcceptedCase) throws {
        let client = try TestServer().connectKept()
        client.value.send(accepted.request)
        #expect(client.value.readAnswer().text == accepted.answer)
        client.value.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(client.value.readAnswer().text == "hello")
    }

    @Test(arguments: cases) func isAnsweredByteByByte(_ accepted: AcceptedCase) throws {
        let client = try TestServer().connectKept()
        for byte in Array(accepted.request.utf8) { client.value.send([byte]) }
        #expect(client.value.readAnswer().text == accepted.answer)
    }

    @Test func starForOptions() throws {
        let server = try TestServer()
        let client = server.connect()
        client.send("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(client.readAnswer().status == 200)
        #expect(server.log.all.contains("head *"))
    }

    @Test func absoluteTargetWithoutPath() throws {
        let server = try TestServer()
        let client = server.connect()
        client.send("GET http://a?x=1 HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(client.readAnswer().status == 200)
        #expect(server.log.all.contains("head /"))
    }

    @Test func hostIsNotNeededByHTTP10() throws {
        #expect(try TestServer().exchange("GET /hello HTTP/1.0\r\n\r\n").hasSuffix("\r\n\r\nhello"))
    }
}

extension TestServer {
    /// A connection that keeps the server.
    func connectKept() -> Kept { Kept(server: self, value: connect()) }

    struct Kept {
        let server: TestServer
        let value: RawClient
    }
}
