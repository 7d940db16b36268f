import HearthBytes
import Glibc

/// HTTP/1.1 on one connection: one request and its answer at a time.
final class HostConnection {
    private let wire: Wire
    private let url: HostURL
    private let token: String?
    private var inbox = ByteBuffer()
    /// The unread part of the current answer.
    private var remainder = AnswerBody.complete
    /// Whether another request may follow after the answer.
    private var isReusable = true
    /// Whether the answer is one to `HEAD`, without a body whatever its fields say.
    private var isHeadOnly = false

    private static let headBytesMax = 64 * 1024

    init(_ url: HostURL, token: String?, authorityFile: String?, idleSeconds: Int) throws(ClientFailure) {
        self.url = url
        self.token = token
        wire = try Wire(url, authorityFile: authorityFile, idleSeconds: idleSeconds)
    }

    /// Whether the connection cannot be reused: the host has closed it or will, an answer was not read to its end, or unexpected data has
    /// arrived.
    var isStale: Bool { !isReusable || !remainder.isComplete || !inbox.isEmpty || wire.hasInput }

    // MARK: The request

    /// Sends a request with its body. If the host answers early, the rest is not sent.
    func send(_ request: HostRequest) throws(ClientFailure) {
        remainder = .untilClose
        isHeadOnly = request.method == "HEAD"
        var bytes = head(of: request)
        switch request.body {
        case .none: try write(bytes)
        case .bytes(let body):
            bytes.append(body)
            try write(bytes)
        case .stream(let length, let next):
            try write(bytes)
            try send(length: length, next)
        }
    }

    private func head(of request: HostRequest) -> ByteBuffer {
        var head = ByteBuffer(capacity: 512)
        head.append("\(request.method) \(url.prefix)\(request.target) HTTP/1.1\r\nHost: \(url.authority)\r\n")
        if let token { head.append("Authorization: Bearer \(token)\r\n") }
        for (name, value) in request.headers { head.append("\(name): \(value)\r\n") }
        switch request.body {
        case .none: if request.method != "GET" { head.append("Content-Length: 0\r\n") }
        case .bytes(let body): head.append("Content-Length: \(body.count)\r\n")
        case .stream(let length?, _): head.append("Content-Length: \(length)\r\n")
        case .stream(nil, _): head.append("Transfer-Encoding: chunked\r\n")
        }
        head.append("\r\n")
        return head
    }

    private func write(_ bytes: borrowing ByteBuffer) throws(ClientFailure) {
        do throws(ClientFailure) {
            try bytes.withUnsafeBytes { (bytes) throws(ClientFailure) in try wire.write(bytes) }
        } catch {
            isReusable = false
            // An early refusal is more informative than the broken connection.
            guard wire.hasInput else { throw error }
        }
    }

    private func send(length: Int?, _ next: (inout ByteBuffer) throws(ClientFailure) -> Void) throws(ClientFailure) {
        var piece = ByteBuffer()
        var framed = ByteBuffer()
        var sent = 0
        while isReusable {
            piece.clear()
            try next(&piece)
            sent += piece.count
            if let length, sent > length || piece.isEmpty && sent < length {
                isReusable = false
                throw ClientFailure(.invalidInput, "the file changed while it was read; try again when no program writes to it")
            }
            if piece.isEmpty { break }
            if wire.hasInput {
                isReusable = false
                return
            }
            if length == nil {
                framed.clear()
                framed.append(String(piece.count, radix: 16))
                framed.append("\r\n")
                framed.append(piece.bytes)
                framed.append("\r\n")
                try write(framed)
            } else {
                try write(piece)
            }
        }
        guard isReusable, length == nil else { return }
        framed.clear()
        framed.append("0\r\n\r\n")
        try write(framed)
    }

    // MARK: The answer

    /// Waits for the head of the answer.
    func receiveHead() throws(ClientFailure) -> HostAnswerHead {
        while true {
            let head = try parseHead()
            // Skip interim answers.
            if head.status < 200 { continue }
            remainder = try AnswerBody(head, isHeadOnly: isHeadOnly, url: url)
            if !head.isPersistent { isReusable = false }
            return head
        }
    }

    private func parseHead() throws(ClientFailure) -> HostAnswerHead {
        while true {
            if let end = inbox.bytes.endOfHead {
                let head = try HostAnswerHead(parsing: inbox.bytes.extracting(first: end), url: url)
                inbox.consume(end)
                return head
            }
            guard inbox.count < Self.headBytesMax else { throw HostAnswerHead.refusal(url) }
            guard try fill() else {
                throw ClientFailure(
                    .interrupted,
                    inbox.isEmpty
                        ? "the host at \(url) closed the connection without an answer; see its log, and try again"
                        : "the answer of \(url) was cut off; see the host's log, and try again")
            }
        }
    }

    /// Passes on the received part of the body, or waits for some.
    ///
    /// - Returns: false at the end of the body.
    func receiveBody(_ take: (Span<UInt8>) throws(ClientFailure) -> Void) throws(ClientFailure) -> Bool {
        while true {
            switch remainder.step(inbox.bytes) {
            case .complete: return false
            case .skip(let count): inbox.consume(count)
            case .take(let count):
                try inbox.withUnsafeBytes { (bytes) throws(ClientFailure) in
                    try take(Span(_unsafeElements: bytes[..<count].bindMemory(to: UInt8.self)))
                }
                inbox.consume(count)
                return true
            case .wrong: throw HostAnswerHead.refusal(url)
            case .more:
                if try fill() { continue }
                if case .untilClose = remainder { return false }
                throw ClientFailure(.interrupted, "the answer of \(url) was cut off; see the host's log, and try again")
            }
        }
    }

    private func fill() throws(ClientFailure) -> Bool {
        var count = 0
        try inbox.appendUninitialized(minimum: 64 * 1024) { (room) throws(ClientFailure) -> Int in
            count = try wire.read(into: UnsafeMutableRawBufferPointer(rebasing: room[..<min(room.count, 256 * 1024)]))
            return count
        }
        return count > 0
    }
}
