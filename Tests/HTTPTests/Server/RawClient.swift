import Glibc

/// A client that says exactly the bytes it is told to, over a blocking socket.
final class RawClient {
    let descriptor: Int32
    private var received: ArraySlice<UInt8> = []
    private var hasEnded = false

    /// Connects to a port of this machine. Nothing that the client waits for may take longer than ten seconds.
    init(port: Int, receiveBufferBytes: Int32? = nil) {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var wait = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &wait, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &wait, socklen_t(MemoryLayout<timeval>.size))
        var on: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        if var receiveBufferBytes {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receiveBufferBytes, socklen_t(MemoryLayout<Int32>.size))
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
        _ = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    deinit { Glibc.close(descriptor) }

    /// - Returns: whether the server took all of it.
    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress.map { $0 + sent }, bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            if count <= 0 { return false }
            sent += count
        }
        return true
    }

    @discardableResult
    func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Closes so that the server sees a reset.
    func reset() {
        var now = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    /// Everything up to the server's end of the connection.
    func readAll() -> [UInt8] {
        while fill() {}
        defer { received = [] }
        return Array(received)
    }

    func readAllText() -> String { String(decoding: readAll(), as: UTF8.self) }

    /// Whether the server has ended the connection and said nothing more.
    func isAtEnd() -> Bool { received.isEmpty && !fill() && hasEnded }

    /// The next `count` bytes, fewer when the connection ends.
    func read(_ count: Int) -> [UInt8] {
        while received.count < count, fill() {}
        let taken = Array(received.prefix(count))
        received = received.dropFirst(taken.count)
        return taken
    }

    /// The bytes up to and including `mark`.
    func read(through mark: String) -> String {
        let mark = Array(mark.utf8)
        var text: [UInt8] = []
        while !text.suffix(mark.count).elementsEqual(mark) {
            let next = read(1)
            if next.isEmpty { break }
            text += next
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The next answer, whatever delimits its body.
    func readAnswer(toHead: Bool = false) -> RawAnswer {
        let head = read(through: "\r\n\r\n")
        var answer = RawAnswer(head: head)
        if toHead || answer.status == 204 || answer.status == 304 || answer.status == 100 { return answer }
        if answer.fields["transfer-encoding"] == "chunked" {
            answer.body = readChunks()
        } else if let length = answer.fields["content-length"].flatMap({ Int($0) }) {
            answer.body = read(length)
        } else {
            answer.body = readAll()
        }
        return answer
    }

    private func readChunks() -> [UInt8] {
        var body: [UInt8] = []
        while let size = Int(read(through: "\r\n").dropLast(), radix: 16) {
            body += read(size)
            _ = read(2)
            if size == 0 { break }
        }
        return body
    }

    private func fill() -> Bool {
        var room = [UInt8](repeating: 0, count: 64 * 1024)
        let count = recv(descriptor, &room, room.count, 0)
        guard count > 0 else {
            // Anything else means that the server has kept us waiting.
            hasEnded = count == 0 || errno == ECONNRESET
            return false
        }
        received = received.isEmpty ? room[..<count] : received + room[..<count]
        return true
    }
}

/// The received answers, parsed.
struct RawAnswer {
    let head: String
    let status: Int
    var fields: [String: String] = [:]
    var body: [UInt8] = []

    init(head: String) {
        self.head = head
        let lines = head.split(separator: "\r\n")
        status = lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            fields[parts[0].lowercased()] = parts.last.map { String($0.drop { $0 == " " }) } ?? ""
        }
    }

    var text: String { String(decoding: body, as: UTF8.self) }
}
