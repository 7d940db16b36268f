import HearthBytes
import Testing

@testable import CommandClient

@Suite struct ConnectionTests {
    @Test(arguments: [
        ("http://127.0.0.1:5001", "127.0.0.1", 5001, ""), ("https://example.org", "example.org", 443, ""), ("http://[::1]:80/", "::1", 80, ""),
        ("https://example.org:8443/hearth/", "example.org", 8443, "/hearth"),
    ])
    func addresses(text: String, host: String, port: Int, prefix: String) throws {
        let url = try HostURL(parsing: text)
        #expect((url.host, url.port, url.prefix) == (host, port, prefix))
        #expect(url.isTLS == text.hasPrefix("https"))
    }

    @Test(arguments: ["", "example.org", "ftp://a", "http://", "http://:80", "http://a:", "http://a:x", "http://a:0", "http://a:70000", "http://a b",
        "http://user@a", "http://a?b", "http://[::1", "http://[::1]x", "http://a\r\nX: y"])
    func whatIsNoAddress(text: String) {
        #expect(throws: ClientFailure.self) { try HostURL(parsing: text) }
    }

    @Test func authorityLeavesOutTheUsualPort() throws {
        #expect(try HostURL(parsing: "http://a:80").authority == "a")
        #expect(try HostURL(parsing: "https://a:80").authority == "a:80")
        #expect(try HostURL(parsing: "http://[::1]:5001").authority == "[::1]:5001")
    }

    // MARK: Answers

    private static func head(_ text: String) throws(ClientFailure) -> HostAnswerHead {
        try HostAnswerHead(parsing: Array(text.utf8).span, url: HostURL(parsing: "http://a"))
    }

    @Test func headsAreRead() throws {
        let head = try Self.head("HTTP/1.1 404 Not Found\r\nContent-Type:  text/plain \r\nX-A:b:c\r\n\r\n")
        #expect(head.status == 404)
        #expect(head.header("content-type") == "text/plain")
        #expect(head.header("x-a") == "b:c")
        #expect(head.header("x-b") == nil)
    }

    @Test(arguments: [
        "\r\n", "220 mail.example ESMTP\r\n\r\n", "HTTP/2 200\r\n\r\n", "HTTP/1.1 abc\r\n\r\n", "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        "HTTP/1.1 99 x\r\n\r\n",
    ])
    func whatIsNoHead(text: String) {
        #expect(throws: ClientFailure.self) { try Self.head(text) }
    }

    @Test(arguments: [
        ("HTTP/1.1", "", true), ("HTTP/1.1", "Connection: close\r\n", false), ("HTTP/1.1", "Connection: Upgrade, Close\r\n", false),
        ("HTTP/1.1", "Connection: close-notice\r\n", true), ("HTTP/1.0", "", false), ("HTTP/1.0", "Connection: Keep-Alive\r\n", true),
        ("HTTP/1.0", "Connection: keep-alive\r\nConnection: close\r\n", false),
    ])
    func connectionsAreKept(version: String, fields: String, expected: Bool) throws {
        #expect(try Self.head("\(version) 200 OK\r\n\(fields)\r\n").isPersistent == expected)
    }

    @Test func anAnswerToHeadHasNoBody() throws {
        let head = try Self.head("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")
        #expect(try AnswerBody(head, isHeadOnly: true, url: HostURL(parsing: "http://a")).isComplete)
        #expect(try !AnswerBody(head, url: HostURL(parsing: "http://a")).isComplete)
    }

    /// The body of an answer that arrives in pieces of `step` bytes, and what is left of the bytes.
    private static func body(_ fields: String, _ text: String, step: Int) throws -> (body: String, rest: Int)? {
        var remainder = try AnswerBody(head("HTTP/1.1 200 OK\r\n\(fields)\r\n"), url: HostURL(parsing: "http://a"))
        var source = Array(text.utf8)[...]
        var inbox = ByteBuffer()
        var body = ByteBuffer()
        while true {
            switch remainder.step(inbox.bytes) {
            case .complete: return (body.string(), inbox.count + source.count)
            case .skip(let count): inbox.consume(count)
            case .take(let count):
                body.append(inbox.bytes.extracting(first: count))
                inbox.consume(count)
            case .wrong: return nil
            case .more:
                guard !source.isEmpty else {
                    if case .untilClose = remainder { return (body.string(), 0) }
                    return nil
                }
                inbox.append(Array(source.prefix(step)))
                source = source.dropFirst(step)
            }
        }
    }

    @Test(arguments: [1, 2, 3, 1000])
    func bodiesEndWhereTheyShould(step: Int) throws {
        let text = "3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\nX: y\r\n\r\nHT"
        let chunked = try #require(try Self.body("Transfer-Encoding: chunked\r\n", text, step: step))
        #expect(chunked == ("abc0123456789", 2))
        #expect(try #require(try Self.body("Content-Length: 5\r\n", "abcdeHT", step: step)) == ("abcde", 2))
        #expect(try #require(try Self.body("Content-Length: 0\r\n", "HT", step: step)) == ("", 2))
        #expect(try #require(try Self.body("", "abc", step: step)) == ("abc", 0))
    }

    @Test(arguments: ["x\r\n", "3\r\nabcd\r\n", "\r\n", "-1\r\n", "fffffffffffffffffff\r\n", "3\r\nab"])
    func brokenChunks(text: String) throws {
        #expect(try Self.body("Transfer-Encoding: chunked\r\n", text, step: 1) == nil)
    }

    // MARK: Requests

    @Test func targetsAreEncoded() {
        let place = DatabaseTarget(path: "//a b/ä%//", instance: "x")
        #expect(place.target() == "/a%20b/%C3%A4%25.json?ns=x")
        #expect(place.description == "/a b/ä%")
        #expect(DatabaseTarget(path: "/").target([("print", "silent")]) == "/.json?print=silent")
        #expect(DatabaseTarget(path: "/.settings/rules").target() == "/.settings/rules.json")
    }

    @Test func queriesAreJSON() {
        var query = RESTQuery()
        query.order = .child("a/b")
        query.startAt = "12"
        query.endAt = "text"
        query.equalTo = "[1]"
        query.limitToFirst = 3
        let parameters = Dictionary(uniqueKeysWithValues: query.parameters.map { ($0.name, $0.value) })
        #expect(parameters == ["orderBy": "\"a/b\"", "startAt": "12", "endAt": "\"text\"", "equalTo": "\"[1]\"", "limitToFirst": "3"])
    }
}
