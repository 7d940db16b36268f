import CLibuv
import Glibc

/// A listening TCP socket: hands every accepted connection to its owner.
public final class Listener {
    private let loop: EventLoop
    private let handle: UnsafeMutablePointer<uv_tcp_t>
    private let accept: (Stream) -> Void
    private var isClosed = false

    /// The port that it listens on, the kernel's choice where 0 was asked for.
    public let port: Int

    /// Listens on `host` and `port`.
    ///
    /// - Parameters:
    ///   - reusePort: lets another listener of the same user share the port; the kernel spreads connections over them.
    ///     Several loops serve one port that way.
    ///   - accept: gets each connection, on the loop.
    /// - Throws: `LoopError`, for example `EADDRINUSE`.
    public static func tcp(
        loop: EventLoop, host: String, port: Int, backlog: Int = 1024, reusePort: Bool = false, accept: @escaping (Stream) -> Void
    ) throws(LoopError) -> Listener {
        let socket = try ListeningSocket.tcp(host: host, port: port, backlog: backlog, reusePort: reusePort)
        return try Listener(loop: loop, adopting: socket.descriptor, name: socket.name, backlog: backlog, accept: accept)
    }

    /// Accepts the connections of a bound socket that was handed over; it becomes the listener's.
    public init(
        loop: EventLoop, adopting descriptor: Int32, name: String, backlog: Int = 1024, accept: @escaping (Stream) -> Void
    ) throws(LoopError) {
        self.loop = loop
        self.accept = accept
        handle = .allocate(capacity: 1)
        uv_tcp_init(loop.handle, handle)
        var code = uv_tcp_open(handle, descriptor)
        if code < 0 { Glibc.close(descriptor) }
        if code == 0 { code = uv_listen(Self.stream(handle), Int32(backlog)) { Listener.didConnect($0, $1) } }
        if code < 0 {
            closeAndFree(handle)
            throw LoopError(code: code, operation: "listen", subject: name)
        }
        port = Self.localPort(of: handle)
        handle.pointee.data = Unmanaged.passUnretained(self).toOpaque()
    }

    deinit { close() }

    /// The socket itself, with a descriptor of its own: it listens on when this is closed.
    ///
    /// - Throws: `LoopError` when there is no descriptor left.
    public func listeningSocket() throws(LoopError) -> ListeningSocket {
        var descriptor: uv_os_fd_t = -1
        let base = UnsafeMutableRawPointer(handle).assumingMemoryBound(to: uv_handle_t.self)
        try check(uv_fileno(base, &descriptor), "listen", "\(port)")
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        if copy < 0 { throw LoopError(code: -errno, operation: "listen", subject: "\(port)") }
        return try ListeningSocket(descriptor: copy)
    }

    /// Accepts no more connections. What is accepted stays open.
    public func close() {
        guard !isClosed else { return }
        isClosed = true
        closeAndFree(handle)
    }

    private static func didConnect(_ server: UnsafeMutablePointer<uv_stream_t>?, _ status: Int32) {
        guard status == 0, let server, let data = server.pointee.data else { return }
        let listener = Unmanaged<Listener>.fromOpaque(data).takeUnretainedValue()
        let client = UnsafeMutablePointer<uv_tcp_t>.allocate(capacity: 1)
        uv_tcp_init(listener.loop.handle, client)
        guard uv_accept(server, stream(client)) == 0 else {
            closeAndFree(client)
            return
        }
        uv_tcp_nodelay(client, 1)
        listener.accept(Stream(loop: listener.loop, handle: client))
    }

    private static func stream(_ handle: UnsafeMutablePointer<uv_tcp_t>) -> UnsafeMutablePointer<uv_stream_t> {
        UnsafeMutableRawPointer(handle).assumingMemoryBound(to: uv_stream_t.self)
    }

    private static func localPort(of handle: UnsafeMutablePointer<uv_tcp_t>) -> Int {
        var storage = sockaddr_storage()
        var length = Int32(MemoryLayout<sockaddr_storage>.size)
        _ = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { uv_tcp_getsockname(handle, $0, &length) }
        }
        return withUnsafePointer(to: storage) { pointer in
            // sockaddr_in and sockaddr_in6 keep the port in the same place.
            pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { Int(UInt16(bigEndian: $0.pointee.sin_port)) }
        }
    }
}
