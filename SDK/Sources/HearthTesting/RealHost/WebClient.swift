import Glibc

/// An HTTP/1.1 client for a host on this machine: one connection a request.
struct WebClient: Sendable {
    struct Answer: Sendable {
        var status: Int
        /// Names in lower case.
        var headers: [(name: String, value: String)]
        var body: [UInt8]

        func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
    }

    let port: UInt16

    /// Sends a request and waits for the whole answer, on a thread of its own.
    func send(_ method: String, _ target: String, headers: [(String, String)] = [], body: [UInt8] = []) async throws -> Answer {
        var request = "\(method) \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: close\r\nContent-Length: \(body.count)\r\n"
        for (name, value) in headers { request += "\(name): \(value)\r\n" }
        let bytes = Array("\(request)\r\n".utf8) + body
        return try await BlockingThread.run { [port] in try Self.parse(try Self.exchange(bytes, port: port)) }
    }

    private static func exchange(_ request: [UInt8], port: UInt16) throws -> [UInt8] {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw TestFailure("A socket cannot be made: \(String(cString: strerror(errno)))") }
        defer { close(descriptor) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
        guard connected == 0 else { throw TestFailure("The host does not answer: \(String(cString: strerror(errno)))") }
        var sent = 0
        while sent < request.count {
            let count = request.withUnsafeBytes { bytes in
                Glibc.send(descriptor, bytes.baseAddress.map { $0 + sent }, request.count - sent, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { break }
            sent += count
        }
        var answer: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while case let count = read(descriptor, &piece, piece.count), count > 0 { answer += piece[..<count] }
        return answer
    }

    private static func parse(_ answer: [UInt8]) throws -> Answer {
        var rest = answer[...]
        func line() -> String? {
            guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
            defer { rest = rest[(end + 1)...] }
            return String(decoding: rest[..<end].filter { $0 != UInt8(ascii: "\r") }, as: UTF8.self)
        }
        guard let status = line()?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
            throw TestFailure("The host closed the connection without an answer.")
        }
        var headers: [(name: String, value: String)] = []
        while let field = line(), !field.isEmpty {
            let parts = field.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let value = parts.count > 1 ? parts[1].drop { $0 == " " } : ""
            headers.append((parts[0].lowercased(), String(value)))
        }
        var body: [UInt8] = []
        if headers.contains(where: { $0.name == "transfer-encoding" && $0.value == "chunked" }) {
            while let size = line().flatMap({ Int($0, radix: 16) }), size > 0 {
                body += rest.prefix(size)
                rest = rest.dropFirst(size)
                _ = line()
            }
        } else {
            body = Array(rest)
        }
        return Answer(status: status, headers: headers, body: body)
    }
}

/// Runs blocking work on a thread of its own, so that no thread of Swift's pool is kept waiting.
enum BlockingThread {
    private final class Work: Sendable {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    static func run<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
        try await withCheckedThrowingContinuation { continuation in
            let work = Work { continuation.resume(with: Result { try body() }) }
            var thread = pthread_t()
            pthread_create(
                &thread, nil,
                { context in
                    if let context { Unmanaged<Work>.fromOpaque(context).takeRetainedValue().run() }
                    return nil
                }, Unmanaged.passRetained(work).toOpaque())
            pthread_detach(thread)
        }
    }
}
