import COpenSSL
import Glibc

/// A connected socket, with TLS for `https`. Every call blocks up to the time limit.
final class Wire {
    private let descriptor: Int32
    private var session: TLSClientSession?
    private let url: HostURL

    /// The time limit for connecting.
    private static let connectSeconds = 10

    /// Connects.
    ///
    /// - Parameters:
    ///   - authorityFile: certificates to trust besides those of the machine.
    ///   - idleSeconds: the longest silence of the host while data is awaited.
    /// - Throws: `ClientFailure` of kind `unreachable` or `tls`.
    init(_ url: HostURL, authorityFile: String? = nil, idleSeconds: Int) throws(ClientFailure) {
        self.url = url
        descriptor = try Self.connect(to: url)
        var one: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
        Self.limit(descriptor, seconds: idleSeconds)
        guard url.isTLS else { return }
        // If this throws, all properties are set and `deinit` closes the descriptor.
        session = try TLSClientSession(descriptor: descriptor, url: url, authorityFile: authorityFile)
    }

    deinit {
        session = nil
        Glibc.close(descriptor)
    }

    private static func connect(to url: HostURL) throws(ClientFailure) -> Int32 {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(url.host, "\(url.port)", &hints, &found)
        defer { if let found { freeaddrinfo(found) } }
        guard code == 0 else {
            throw ClientFailure(.unreachable, "the name \(url.host) cannot be found (\(String(cString: gai_strerror(code)))); check --url")
        }
        var reason = "no address"
        var next = found
        while let candidate = next?.pointee {
            next = candidate.ai_next
            let descriptor = socket(candidate.ai_family, candidate.ai_socktype | Int32(SOCK_CLOEXEC.rawValue), candidate.ai_protocol)
            guard descriptor >= 0 else { continue }
            // On Linux the send timeout also limits connecting.
            limit(descriptor, seconds: connectSeconds)
            if Glibc.connect(descriptor, candidate.ai_addr, candidate.ai_addrlen) == 0 { return descriptor }
            reason = errno == EINPROGRESS ? "no answer in \(connectSeconds) seconds" : String(cString: strerror(errno)).lowercased()
            Glibc.close(descriptor)
        }
        throw ClientFailure(
            .unreachable, "no host answers at \(url) (\(reason)); start one with `hearth serve`, or give its URL with --url or HEARTH_URL")
    }

    private static func limit(_ descriptor: Int32, seconds: Int) {
        var time = timeval(tv_sec: seconds, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
    }

    /// Whether the peer has sent data or closed.
    var hasInput: Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let isReadable = poll(&entry, 1, 0) > 0
        guard let session else { return isReadable }
        // The data may belong to TLS itself, such as session tickets.
        let flags = fcntl(descriptor, F_GETFL)
        _ = fcntl(descriptor, F_SETFL, flags | O_NONBLOCK)
        defer { _ = fcntl(descriptor, F_SETFL, flags) }
        return session.hasInput
    }

    /// Sends all bytes.
    func write(_ bytes: UnsafeRawBufferPointer) throws(ClientFailure) {
        var rest = bytes
        while rest.count > 0 {
            let count = session?.write(rest) ?? send(descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw interruption() }
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
        }
    }

    /// Reads at least one byte.
    ///
    /// - Returns: 0 if the peer has closed.
    func read(into room: UnsafeMutableRawBufferPointer) throws(ClientFailure) -> Int {
        while true {
            let count = session?.read(into: room) ?? recv(descriptor, room.baseAddress, room.count, 0)
            if count >= 0 { return count }
            guard errno == EINTR else { throw interruption() }
        }
    }

    private func interruption() -> ClientFailure {
        if errno == EAGAIN || errno == EWOULDBLOCK {
            return ClientFailure(.interrupted, "the host at \(url) has been silent for too long; see whether it is busy, and try again")
        }
        return ClientFailure(.interrupted, "the connection to \(url) broke; see the host's log, and try again")
    }
}
