import HearthBytes
import EventLoop
import FuzzSupport
import Glibc
import Testing

@testable import HTTP

/// Mutated requests, fed straight to a connection. See `Tests/Fuzz/HTTP/README.md`.
@Suite(.serialized) struct FuzzTests {
    private static let words = [
        "\r\n", "\r\n\r\n", "\n", "\r", "\0", " ", "\t", ":", ";", ",", "0\r\n\r\n", "5\r\nhello\r\n", "ffffffffffffffff\r\n", "-1",
        "Content-Length: 5\r\n", "Content-Length: 0\r\n", "Transfer-Encoding: chunked\r\n", "Transfer-Encoding: identity\r\n",
        "Host: b\r\n", "Connection: close\r\n", "Connection: keep-alive\r\n", "Expect: 100-continue\r\n", "Content-Encoding: gzip\r\n",
        "GET /a HTTP/1.1\r\nHost: a\r\n\r\n", " HTTP/1.1", " HTTP/1.0", "http://a/", "HEAD ", "POST /stream ", "Upgrade: h2c\r\n",
    ]

    @Test func mutatedRequestsMeanTheSameHoweverTheyAreCut() throws {
        let corpus = try FuzzCorpus.load("HTTP/corpus")
        #expect(corpus.count >= 15)
        let host = try FuzzHost()
        let run = FuzzRun(corpus, words: Self.words, rounds: 3000)
        let complaint = run.complaint { input, random in
            let whole = host.run([input])
            let pieces = host.run(random.pieces(of: input))
            return whole == pieces ? whole.fault : "cut it means something else"
        }
        #expect(complaint == nil)
    }

    @Test func theCorpusItselfIsUnderstood() throws {
        let host = try FuzzHost()
        var requests = 0
        for input in try FuzzCorpus.load("HTTP/corpus") { requests += host.run([input]).requests.count }
        #expect(requests == 24)
    }
}

/// The result of an input: the requests that the handler saw, the number of answers, and whether the last one refused.
struct FuzzOutcome: Equatable {
    var requests: [String] = []
    var answers = 0
    var isRefused = false
    /// The problem of the answers.
    var fault: String?
}

/// A server without a network: bytes are handed to its connections directly.
final class FuzzHost: HTTPHandler, HTTPBodyReceiver {
    private let loop: EventLoop
    private var server: HTTPServer?
    private var requests: [String] = []
    private var streamed: [UInt8] = []

    init() throws {
        loop = try EventLoop()
        var limits = HTTPLimits()
        limits.bodyBytesMax = 16 * 1024
        server = HTTPServer(loop: loop, limits: limits, handler: self)
    }

    func run(_ pieces: [[UInt8]]) -> FuzzOutcome {
        var ends: [Int32] = [0, 0]
        socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0, &ends)
        defer { close(ends[1]) }
        guard let server, let stream = try? Stream.adopting(descriptor: ends[0], loop: loop) else {
            return FuzzOutcome(fault: "no stream")
        }
        requests = []
        server.accept(stream)
        guard let connection = stream.handler as? HTTPConnection else { return FuzzOutcome(fault: "no connection") }
        for piece in pieces {
            if connection.phase != .closed { connection.stream(stream, didRead: piece.span) }
            loop.runOnce()
        }
        let isClosing = connection.phase == .closing
        stream.close()
        loop.runOnce()
        return judge(output: Self.drain(ends[1]), isClosing)
    }

    private static func drain(_ descriptor: Int32) -> [UInt8] {
        var output: [UInt8] = []
        var room = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = read(descriptor, &room, room.count)
            guard count > 0 else { return output }
            output += room[..<count]
        }
    }

    /// Walks through the answers, which must follow each other without a gap.
    private func judge(output: [UInt8], _ isClosing: Bool) -> FuzzOutcome {
        var outcome = FuzzOutcome(requests: requests)
        var rest = output[...]
        var toHead = requests.map { $0.hasPrefix("HEAD ") }[...]
        while !rest.isEmpty {
            guard let end = rest.firstRange(of: Array("\r\n\r\n".utf8)) else {
                outcome.fault = "a head without end"
                return outcome
            }
            let answer = RawAnswer(head: String(decoding: rest[..<end.upperBound], as: UTF8.self))
            rest = rest[end.upperBound...]
            if answer.status == 100 { continue }
            guard let length = answer.fields["content-length"].flatMap({ Int($0) }), answer.fields["date"] != nil else {
                outcome.fault = "an answer without length or date: \(answer.head)"
                return outcome
            }
            outcome.answers += 1
            let isToHead = toHead.popFirst() ?? (rest.count < length)
            guard isToHead || rest.count >= length else {
                outcome.fault = "an answer is cut"
                return outcome
            }
            if !isToHead { rest = rest.dropFirst(length) }
            outcome.isRefused = answer.status >= 400 && answer.status != 404
            if outcome.isRefused, !isClosing || !rest.isEmpty { outcome.fault = "it went on after a refusal" }
        }
        if outcome.answers != requests.count + (outcome.isRefused ? 1 : 0) { outcome.fault = "answers do not match requests" }
        return outcome
    }

    // MARK: The handler

    func head(_ exchange: HTTPExchange) -> BodyPlan {
        switch exchange.path.string() {
        case "/stream":
            streamed = []
            return .stream(self)
        case "/refused":
            note(exchange, body: [])
            exchange.respond(.notFound, body: Array("no".utf8).span)
            return .answered
        default: return .collect(limit: 4096)
        }
    }

    func request(_ exchange: HTTPExchange, body: Span<UInt8>) {
        note(exchange, body: body.array())
        exchange.respond(.ok, body: body)
    }

    func exchange(_ exchange: HTTPExchange, didReceive bytes: Span<UInt8>) { streamed += bytes.array() }

    func exchangeDidReceiveAll(_ exchange: HTTPExchange) {
        note(exchange, body: streamed)
        let body = streamed
        exchange.respond(.ok, body: body.span)
    }

    private func note(_ exchange: HTTPExchange, body: [UInt8]) {
        requests.append("\(TestRoutes.describe(exchange))\n\n\(body)")
    }
}
