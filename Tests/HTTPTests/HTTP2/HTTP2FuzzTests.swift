import EventLoop
import FuzzSupport
import Glibc
import HearthBytes
import Testing

@testable import HTTP

/// Mutated frames, fed straight to a connection. See `Tests/Fuzz/HTTP2/README.md`.
@Suite(.serialized) struct HTTP2FuzzTests {
    private static let words = [
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "\0\0\0\u{4}\0\0\0\0\0", "\0\0\u{4}\u{8}\0\0\0\0\u{1}\0\0\0\u{1}",
        "\0\0\u{4}\u{3}\0\0\0\0\u{1}\0\0\0\u{8}",
        "\0\0\u{8}\u{6}\0\0\0\0\012345678", "\0\0\0\0\u{1}\0\0\0\u{1}", "\0\0\u{5}\0\0\0\0\0\u{3}hello", "\0\0\0\u{9}\u{4}\0\0\0\u{1}",
        "\0\u{5}:path\u{7}/stream", "\0\u{E}content-length\u{1}5", "\0\u{10}content-encoding\u{4}gzip", "\0\u{6}expect\u{C}100-continue",
        "\0\u{6}:proto\u{1}x", "\0\u{4}host\u{1}b", "\0\u{2}te\u{8}trailers",
    ]

    @Test func whateverArrivesTheAnswersAreFrames() throws {
        let corpus = try FuzzCorpus.load("HTTP2/corpus")
        #expect(corpus.count >= 15)
        let host = try HTTP2FuzzHost()
        let run = FuzzRun(corpus, words: Self.words, rounds: 3000)
        let complaint = run.complaint { input, random in
            host.run([input]).fault ?? host.run(random.pieces(of: input)).fault
        }
        #expect(complaint == nil)
    }

    @Test func theCorpusMeansTheSameHoweverItIsCut() throws {
        let host = try HTTP2FuzzHost()
        var requests = 0
        for input in try FuzzCorpus.load("HTTP2/corpus") {
            let whole = host.run([input])
            #expect(whole.fault == nil)
            #expect(host.run(input.map { [$0] }).requests == whole.requests, "\(input)")
            requests += whole.requests.count
        }
        #expect(requests == 22)
    }
}

/// A server without a network: bytes are handed to its connections directly.
final class HTTP2FuzzHost: HTTPHandler, HTTPBodyReceiver, HTTPExchangeObserver {
    struct Outcome {
        var requests: [String] = []
        var fault: String?
    }

    private let loop: EventLoop
    private var server: HTTPServer?
    private var service: HTTP2Service?
    private var requests: [String] = []
    private var streamed: [UInt8] = []

    init() throws {
        loop = try EventLoop()
        var limits = HTTPLimits()
        limits.bodyBytesMax = 16 * 1024
        let server = HTTPServer(loop: loop, limits: limits, handler: self)
        service = server.offerHTTP2()
        self.server = server
    }

    func run(_ pieces: [[UInt8]]) -> Outcome {
        var ends: [Int32] = [0, 0]
        socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0, &ends)
        defer { close(ends[1]) }
        guard let server, let stream = try? Stream.adopting(descriptor: ends[0], loop: loop) else { return Outcome(fault: "no stream") }
        requests = []
        server.accept(stream)
        guard let connection = stream.handler as? HTTPConnection else { return Outcome(fault: "no connection") }
        for piece in pieces {
            if connection.phase != .closed { connection.stream(stream, didRead: piece.span) }
            loop.runOnce()
        }
        let isHTTP2 = connection.upgraded is HTTP2Connection
        stream.close()
        loop.runOnce()
        var outcome = Outcome(requests: requests)
        if isHTTP2 { outcome.fault = Self.fault(of: Self.drain(ends[1])) }
        if service?.figures.streamsOpen != 0 || service?.figures.connectionsOpen != 0 { outcome.fault = "something is left" }
        return outcome
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

    /// Walks through the frames, which must follow each other without a gap, and answer each stream once at most.
    private static func fault(of output: [UInt8]) -> String? {
        var rest = output[...]
        var ended: Set<UInt32> = []
        while !rest.isEmpty {
            let head = Array(rest.prefix(9))
            guard head.count == 9, let kind = FrameClient.Kind(rawValue: head[3]) else { return "no frame: \(head)" }
            let size = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
            guard rest.count >= 9 + size, size <= 16384 else { return "a frame is cut" }
            rest = rest.dropFirst(9 + size)
            let stream = head[5...8].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            switch kind {
            case .data, .head:
                if ended.contains(stream) { return "stream \(stream) goes on after its end" }
                if head[4] & 1 != 0 { ended.insert(stream) }
            case .push, .priority, .continuation: return "a frame that is not sent: \(kind)"
            default: break
            }
        }
        return nil
    }

    // MARK: The handler

    func head(_ exchange: HTTPExchange) -> BodyPlan {
        exchange.observer = self
        switch exchange.path.string() {
        case "/stream":
            streamed = []
            return .stream(self)
        case "/refused":
            note(exchange, body: [])
            exchange.respond(.notFound, body: Array("no".utf8).span)
            return .answered
        case "/aborted":
            note(exchange, body: [])
            exchange.startResponse(.ok, contentLength: 10)
            exchange.abort()
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
        let body = streamed
        note(exchange, body: body)
        exchange.startResponse(.ok)
        exchange.write(body.span)
        exchange.end()
    }

    func exchangeDidClose(_ exchange: HTTPExchange) { exchange.respond(.ok) }

    private func note(_ exchange: HTTPExchange, body: [UInt8]) {
        requests.append("\(TestRoutes.describe(exchange))\n\n\(body)")
    }
}
