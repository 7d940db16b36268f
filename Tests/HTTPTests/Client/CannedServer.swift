import HearthBytes
import EventLoop
import Synchronization

/// A server on a separate loop that answers each request with bytes chosen by the test, or not at all.
///
/// A request is taken to end with its head, or with `Content-Length` more bytes.
final class CannedServer: Sendable {
    private let thread: LoopThread
    let port: Int
    private let log: RequestLog

    /// - Parameters:
    ///   - tls: the files of certificate and key; none for plain HTTP.
    ///   - answer: the bytes to send for a request given as text; nil closes the connection, and an empty array leaves the
    ///     client waiting.
    init(tls: (certificateFile: String, keyFile: String)? = nil, _ answer: @escaping @Sendable (String) -> [UInt8]?) async throws {
        let thread = try LoopThread()
        let log = RequestLog()
        self.thread = thread
        self.log = log
        port = try await withCheckedThrowingContinuation { continuation in
            thread.loop.post { continuation.resume(with: Result { try log.listen(on: thread.loop, tls, answer) }) }
        }
    }

    var url: String { "http://127.0.0.1:\(port)" }

    /// The requests so far, heads and bodies as they came.
    var requests: [String] { log.requests.withLock { $0 } }

    /// Closes the port before it returns.
    func stop() {
        thread.loop.post { [log] in log.close() }
        thread.join()
    }
}

/// The loop's side of the server.
// Unchecked: the listener and the connections are touched on the loop's thread only; the requests have their lock.
private final class RequestLog: @unchecked Sendable {
    let requests = Mutex<[String]>([])
    private var listener: Listener?
    private var connections: [Connection] = []

    func listen(
        on loop: EventLoop, _ tls: (certificateFile: String, keyFile: String)?, _ answer: @escaping @Sendable (String) -> [UInt8]?
    ) throws -> Int {
        let context = try tls.map { try TLSContext(certificateFile: $0.certificateFile, keyFile: $0.keyFile) }
        let listener = try Listener.tcp(loop: loop, host: "127.0.0.1", port: 0) { [unowned self] stream in
            if let context {
                do { try stream.startTLS(context) } catch { return stream.close() }
            }
            let connection = Connection(stream) { [unowned self] text in
                requests.withLock { $0.append(text) }
                return answer(text)
            }
            connections.append(connection)
        }
        self.listener = listener
        return listener.port
    }

    func close() {
        listener?.close()
        for connection in connections { connection.close() }
    }
}

private final class Connection: StreamHandler {
    private let stream: Stream
    private let answer: (String) -> [UInt8]?
    private var received = ""

    init(_ stream: Stream, _ answer: @escaping (String) -> [UInt8]?) {
        self.stream = stream
        self.answer = answer
        stream.handler = self
        stream.startReading()
    }

    func close() { stream.close() }

    func stream(_ stream: Stream, didRead bytes: Span<UInt8>) {
        received += bytes.string()
        while let request = nextRequest() {
            guard let bytes = answer(request) else { return stream.close() }
            stream.write(bytes)
        }
    }

    /// Takes one whole request from what has come.
    private func nextRequest() -> String? {
        let bytes = Array(received.utf8)
        let text = received
        guard let head = text.range(of: "\r\n\r\n") else { return nil }
        let bodyLength = text[..<head.lowerBound].lowercased().split(separator: "\r\n").compactMap { line -> Int? in
            line.hasPrefix("content-length: ") ? Int(line.dropFirst(16)) : nil
        }.first ?? 0
        let end = text.utf8.distance(from: text.startIndex, to: head.upperBound) + bodyLength
        guard bytes.count >= end else { return nil }
        received = String(decoding: bytes[end...], as: UTF8.self)
        return String(decoding: bytes[..<end], as: UTF8.self)
    }

    func streamDidEnd(_ stream: Stream) { stream.close() }
    func streamDidDrain(_ stream: Stream) {}
    func stream(_ stream: Stream, didFail error: LoopError) {}
    func streamDidClose(_ stream: Stream) {}
}

private extension String {
    /// The first place of `other`, searched byte by byte.
    func range(of other: String) -> Range<String.Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].utf8.starts(with: other.utf8) {
                return start..<utf8.index(start, offsetBy: other.utf8.count)
            }
            start = utf8.index(after: start)
        }
        return nil
    }
}
