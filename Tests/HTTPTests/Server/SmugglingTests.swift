import HTTP
import Testing

/// A request that no server may take in any meaning, because another one could take it in a second meaning.
struct RefusalCase: CustomTestStringConvertible, Sendable {
    let name: String
    let bytes: String
    var status = 400

    init(_ name: String, _ bytes: String, _ status: Int = 400) {
        self.name = name
        self.bytes = bytes
        self.status = status
    }

    var testDescription: String { name }
}

@Suite struct SmugglingTests {
    static let post = "POST /echo HTTP/1.1\r\nHost: a\r\n"
    static let chunked = post + "Transfer-Encoding: chunked\r\n\r\n"

    static let lengths: [RefusalCase] = [
        .init("two lengths that differ", post + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!"),
        .init("two lengths that agree", post + "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello"),
        .init("length list", post + "Content-Length: 5, 5\r\n\r\nhello"),
        .init("length and chunked", post + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        .init("chunked and length", post + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n"),
        .init("zero length and chunked", post + "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        .init("negative length", post + "Content-Length: -5\r\n\r\nhello"),
        .init("length with plus", post + "Content-Length: +5\r\n\r\nhello"),
        .init("hexadecimal length", post + "Content-Length: 0x5\r\n\r\nhello"),
        .init("length with junk", post + "Content-Length: 5a\r\n\r\nhello"),
        .init("length in two words", post + "Content-Length: 5 5\r\n\r\nhello"),
        .init("empty length", post + "Content-Length: \r\n\r\n"),
        .init("length past 64 bits", post + "Content-Length: 18446744073709551621\r\n\r\nhello"),
        .init("length of nineteen digits", post + "Content-Length: 9999999999999999999\r\n\r\nhello"),
        .init("length with a space before the colon", post + "Content-Length : 5\r\n\r\nhello"),
        .init("length with a tab before the colon", post + "Content-Length\t: 5\r\n\r\nhello"),
    ]

    static let codings: [RefusalCase] = [
        .init("chunked not last", post + "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n"),
        .init("unknown coding", post + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"),
        .init("identity coding", post + "Transfer-Encoding: identity\r\n\r\n"),
        .init("gzip coding", post + "Transfer-Encoding: gzip\r\n\r\n"),
        .init("two codings", post + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
        .init("chunked twice in one", post + "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n"),
        .init("chunked twice in two", post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        .init("chunked and identity in two", post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n"),
        .init("quoted coding", post + "Transfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n"),
        .init("coding with a parameter", post + "Transfer-Encoding: chunked;q=1\r\n\r\n0\r\n\r\n"),
        .init("coding after a vertical tab", post + "Transfer-Encoding: \u{0B}chunked\r\n\r\n0\r\n\r\n"),
        .init("empty coding", post + "Transfer-Encoding:\r\n\r\n0\r\n\r\n"),
        .init("coding with a space before the colon", post + "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n"),
        .init("coding folded", post + "Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n"),
        .init("coding in HTTP/1.0", "POST /echo HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    ]

    static let chunks: [RefusalCase] = [
        .init("negative chunk", chunked + "-1\r\nx\r\n0\r\n\r\n"),
        .init("chunk size with 0x", chunked + "0x5\r\nhello\r\n0\r\n\r\n"),
        .init("chunk size of letters", chunked + "xyz\r\nhello\r\n0\r\n\r\n"),
        .init("chunk size missing", chunked + "\r\nhello\r\n0\r\n\r\n"),
        .init("chunk size after a space", chunked + " 5\r\nhello\r\n0\r\n\r\n"),
        .init("chunk size before a space", chunked + "5 \r\nhello\r\n0\r\n\r\n"),
        .init("chunk size before a tab", chunked + "5\t\r\nhello\r\n0\r\n\r\n"),
        .init("chunk size past 64 bits", chunked + "10000000000000005\r\nhello\r\n0\r\n\r\n"),
        .init("chunk size of many zeros", chunked + "00000000000000000000005\r\nhello\r\n0\r\n\r\n"),
        .init("chunk size with underscore", chunked + "0_5\r\nhello\r\n0\r\n\r\n"),
        .init("chunk size then bare LF", chunked + "5\nhello\r\n0\r\n\r\n"),
        .init("chunk size then bare CR", chunked + "5\rhello\r\n0\r\n\r\n"),
        .init("chunk size then CR and junk", chunked + "5\rXhello\r\n0\r\n\r\n"),
        .init("chunk shorter than its data", chunked + "3\r\nhello\r\n0\r\n\r\n"),
        .init("chunk ended by LF", chunked + "5\r\nhello\n0\r\n\r\n"),
        .init("chunk ended by junk", chunked + "5\r\nhelloXX0\r\n\r\n"),
        .init("extension with bare LF", chunked + "5;a\nb\r\nhello\r\n0\r\n\r\n"),
        .init("extension with bare CR", chunked + "5;a\rb\r\nhello\r\n0\r\n\r\n"),
        .init("extension with NUL", chunked + "5;a=\0\r\nhello\r\n0\r\n\r\n"),
        .init("last chunk then LF", chunked + "0\n\n"),
        .init("trailer then LF", chunked + "0\r\nA: b\n\r\n"),
        .init("trailer with space before colon", chunked + "0\r\nA : b\r\n\r\n"),
        .init("trailer folded", chunked + "0\r\nA: b\r\n c\r\n\r\n"),
        .init("trailer without colon", chunked + "0\r\nAb\r\n\r\n"),
        .init("end with CR and junk", chunked + "0\r\n\rX"),
    ]

    static let lines: [RefusalCase] = [
        .init("bare LF after the request line", "GET / HTTP/1.1\nHost: a\r\n\r\n"),
        .init("bare LF after a field", "GET / HTTP/1.1\r\nHost: a\nX: y\r\n\r\n"),
        .init("bare LFs everywhere", "GET / HTTP/1.1\nHost: a\n\n"),
        .init("bare LF as the blank line", "GET / HTTP/1.1\r\nHost: a\r\n\n"),
        .init("bare CR in a value", "GET / HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n"),
        .init("bare CR hiding a field", "GET / HTTP/1.1\r\nHost: a\r\nX: a\rContent-Length: 5\r\n\r\n"),
        .init("two CRs", "GET / HTTP/1.1\r\nHost: a\r\r\n\r\n"),
        .init("folded field", "GET / HTTP/1.1\r\nHost: a\r\nX: a\r\n b\r\n\r\n"),
        .init("field folded with a tab", "GET / HTTP/1.1\r\nHost: a\r\nX: a\r\n\tb\r\n\r\n"),
        .init("first field after a space", "GET / HTTP/1.1\r\n Host: a\r\n\r\n"),
        .init("NUL in a value", "GET / HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n"),
        .init("NUL in a name", "GET / HTTP/1.1\r\nHost: a\r\nX\0: b\r\n\r\n"),
        .init("NUL in the target", "GET /a\0b HTTP/1.1\r\nHost: a\r\n\r\n"),
        .init("NUL in the method", "G\0T / HTTP/1.1\r\nHost: a\r\n\r\n"),
        .init("delete character in a value", "GET / HTTP/1.1\r\nHost: a\r\nX: a\u{7F}b\r\n\r\n"),
        .init("space before colon", "GET / HTTP/1.1\r\nHost: a\r\nX : b\r\n\r\n"),
        .init("space in a name", "GET / HTTP/1.1\r\nHost: a\r\nX Y: b\r\n\r\n"),
        .init("empty name", "GET / HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n"),
        .init("no colon", "GET / HTTP/1.1\r\nHost: a\r\nX\r\n\r\n"),
        .init("brackets in a name", "GET / HTTP/1.1\r\nHost: a\r\nX[]: b\r\n\r\n"),
        .init("name that is not ASCII", "GET / HTTP/1.1\r\nHost: a\r\nÄ: b\r\n\r\n"),
        .init("two blank lines first", "\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"),
        .init("bare LF first", "\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"),
        .init("space first", " GET / HTTP/1.1\r\nHost: a\r\n\r\n"),
    ]

    static let requestLines: [RefusalCase] = [
        .init("method with a bracket", "G[T / HTTP/1.1\r\nHost: a\r\n\r\n"),
        .init("method in lower case", "get / HTTP/1.1\r\nHost: a\r\n\r\n", 501),
        .init("method that nobody knows", "BREW / HTTP/1.1\r\nHost: a\r\n\r\n", 501),
        .init("tunnel", "CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n", 501),
        .init("two spaces after the method", "GET  / HTTP/1.1\r\nHost: a\r\n\r\n"),
        .init("tab after the method", "GET\t/ HTTP/1.1\r\nHost: a\r\n\r\n"),
        .init("two spaces before the version", "GET /  HTTP/1.1\r\nHost: a\r\n\r\n"),
        .init("space after the version", "GET / HTTP/1.1 \r\nHost: a\r\n\r\n"),
        .init("space in the target", "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n"),
        .init("tab in the target", "GET /a\tb HTTP/1.1\r\nHost: a\r\n\r\n"),
        .init("target that is not ASCII", "GET /ä HTTP/1.1\r\nHost: a\r\n\r\n"),
        .init("fragment in the target", "GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n"),
        .init("no target", "GET HTTP/1.1\r\nHost: a\r\n\r\n"),
        .init("relative target", "GET a HTTP/1.1\r\nHost: a\r\n\r\n"),
        .init("authority as target", "GET a:80 HTTP/1.1\r\nHost: a\r\n\r\n"),
        .init("star for GET", "GET * HTTP/1.1\r\nHost: a\r\n\r\n"),
        .init("user in the target", "GET http://u@a/ HTTP/1.1\r\nHost: a\r\n\r\n"),
        .init("target without host", "GET http:///x HTTP/1.1\r\nHost: a\r\n\r\n"),
        .init("other scheme", "GET ftp://a/x HTTP/1.1\r\nHost: a\r\n\r\n"),
        .init("no version", "GET /\r\nHost: a\r\n\r\n"),
        .init("version 2", "GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505),
        .init("version 1.2", "GET / HTTP/1.2\r\nHost: a\r\n\r\n", 505),
        .init("version 0.9", "GET / HTTP/0.9\r\nHost: a\r\n\r\n", 505),
        .init("version with two digits", "GET / HTTP/1.10\r\nHost: a\r\n\r\n"),
        .init("version in lower case", "GET / http/1.1\r\nHost: a\r\n\r\n"),
        .init("other protocol", "GET / RTSP/1.0\r\nHost: a\r\n\r\n"),
        .init("almost the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n", 505),
    ]

    static let hosts: [RefusalCase] = [
        .init("no host", "GET / HTTP/1.1\r\n\r\n"),
        .init("two hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"),
        .init("the same host twice", "GET / HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n"),
        .init("host with a path", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n"),
        .init("host with a user", "GET / HTTP/1.1\r\nHost: u@a\r\n\r\n"),
        .init("host of two words", "GET / HTTP/1.1\r\nHost: a b\r\n\r\n"),
        .init("no host for an absolute target", "GET http://a/ HTTP/1.1\r\n\r\n"),
    ]

    static let cases = lengths + codings + chunks + lines + requestLines + hosts

    @Test(arguments: cases) func isRefusedAndClosed(_ refusal: RefusalCase) throws {
        let server = try TestServer()
        let client = server.connect()
        client.send(refusal.bytes + "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n")
        expectRefusal(refusal, client, server)
    }

    @Test(arguments: cases) func isRefusedByteByByte(_ refusal: RefusalCase) throws {
        let server = try TestServer()
        let client = server.connect()
        for byte in Array(refusal.bytes.utf8) where !client.send([byte]) { break }
        expectRefusal(refusal, client, server)
    }

    private func expectRefusal(_ refusal: RefusalCase, _ client: RawClient, _ server: TestServer) {
        let answer = client.readAnswer()
        #expect(answer.status == refusal.status, "\(answer.head)")
        #expect(answer.fields["connection"] == "close")
        #expect(client.isAtEnd())
        #expect(!server.log.all.contains { $0.hasPrefix("request") }, "the handler saw \(server.log.all)")
    }

    @Test func aRefusalEndsTheRequestsBehindIt() throws {
        let server = try TestServer()
        let answers = server.exchange(
            "GET /hello HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\nHost: a\n\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(answers.components(of: "HTTP/1.1 ").map { $0.prefix(3) } == ["200", "400"])
        #expect(!server.log.all.contains("head /smuggled"))
    }
}

extension String {
    /// The parts between the separators, without the part before the first.
    func components(of separator: String) -> [String] {
        var parts: [String] = []
        var rest = Substring(self)
        while let range = rest.firstRange(of: separator) {
            if !parts.isEmpty { parts[parts.count - 1] = String(rest[..<range.lowerBound]) }
            rest = rest[range.upperBound...]
            parts.append(String(rest))
        }
        return parts
    }
}
