import CLibuv
import CLinux
import Glibc

/// A listening TCP socket that hands each accepted connection to its owner.
///
/// When the process has no free descriptor, the listener accepts a connection with a reserve descriptor; ``Stream/isSurplus`` tells the
/// owner to refuse it. Further connections wait in the kernel until a new reserve descriptor can be opened.
public final class Listener {
    private let loop: EventLoop
    private let descriptor: Int32
    private let accept: (Stream) -> Void
    private var poll: Poll?
    private var retry: Timer?
    /// The reserve descriptor; -1 for none.
    private var held: Int32 = -1
    private var isClosed = false

    /// The most connections accepted in one turn of the loop.
    private static let turnMax = 256
    /// The turn of the last connection, and the number of connections in it. A turn can have several events of one socket.
    private var turn: UInt64 = 0
    private var acceptedInTurn = 0
    private static let retryMilliseconds: UInt64 = 50

    /// The port; chosen by the kernel if 0 was requested.
    public let port: Int
    /// Called on the loop when the kernel refuses to accept and connections have to wait.
    public var failed: ((LoopError) -> Void)?

    /// Listens on `host` and `port`.
    ///
    /// - Parameters:
    ///   - reusePort: lets other listeners of the same user share the port, so that several loops can serve it; the kernel distributes the
    ///     connections.
    ///   - accept: gets each connection, on the loop.
    /// - Throws: `LoopError`, for example `EADDRINUSE`.
    public static func tcp(
        loop: EventLoop, host: String, port: Int, backlog: Int = 4096, reusePort: Bool = false, accept: @escaping (Stream) -> Void
    ) throws(LoopError) -> Listener {
        let socket = try ListeningSocket.tcp(host: host, port: port, backlog: backlog, reusePort: reusePort)
        return try Listener(loop: loop, adopting: socket.descriptor, name: socket.name, backlog: backlog, accept: accept)
    }

    /// Listens on a bound socket. The listener owns it, even when this throws.
    public init(
        loop: EventLoop, adopting descriptor: Int32, name: String, backlog: Int = 4096, accept: @escaping (Stream) -> Void
    ) throws(LoopError) {
        self.loop = loop
        self.accept = accept
        self.descriptor = descriptor
        port = SocketAddress.localPort(of: descriptor)
        // From here on `deinit` closes the descriptor when an error is thrown.
        if listen(descriptor, Int32(backlog)) != 0 { throw LoopError(code: -errno, operation: "listen", subject: name) }
        let poll = try Poll(loop: loop, descriptor: descriptor) { [unowned self] _ in acceptWaiting() }
        self.poll = poll
        try poll.watch(.readable)
        hold()
    }

    deinit { close() }

    /// Stops accepting. Accepted connections stay open.
    public func close() {
        guard !isClosed else { return }
        isClosed = true
        poll?.close()
        poll = nil
        retry = nil
        Glibc.close(descriptor)
        if held >= 0 { Glibc.close(held) }
    }

    // MARK: Accepting

    private func acceptWaiting() {
        if turn != loop.turns { (turn, acceptedInTurn) = (loop.turns, 0) }
        while acceptedInTurn < Self.turnMax, !isClosed {
            acceptedInTurn += 1
            var result = linux_accept(descriptor)
            if result >= 0 {
                take(result)
                continue
            }
            if result == -EMFILE || result == -ENFILE, held >= 0 {
                result = acceptWithHeld()
                if result >= 0 { continue }
            }
            switch -result {
            case EAGAIN: return
            // The client left while it waited; accept(2) also reports network errors of the connection.
            case EINTR, ECONNABORTED, EPROTO, ENETDOWN, ENOPROTOOPT, EHOSTDOWN, ENONET, EHOSTUNREACH, EOPNOTSUPP, ENETUNREACH: continue
            default: return pause(LoopError(code: result, operation: "accept", subject: "\(port)"))
            }
        }
    }

    private func take(_ connection: Int32, isSurplus: Bool = false) {
        let share = isSurplus ? .kept : DescriptorLimit.share(of: connection)
        // A connection that cannot be watched is closed; its client may retry.
        guard let stream = try? Stream.adopting(connection: connection, loop: loop) else { return }
        stream.sendsAtOnce()
        stream.surplus = share
        accept(stream)
    }

    /// Accepts a connection with the reserve descriptor.
    private func acceptWithHeld() -> Int32 {
        Glibc.close(held)
        held = -1
        let result = linux_accept(descriptor)
        if result >= 0 { take(result, isSurplus: true) }
        hold()
        return result
    }

    private func hold() {
        if held < 0, !isClosed { held = open("/dev/null", O_RDONLY | O_CLOEXEC) }
    }

    /// Stops accepting for a moment; connections wait in the kernel.
    private func pause(_ error: LoopError) {
        failed?(error)
        try? poll?.watch([])
        let timer = Timer(loop: loop) { [unowned self] in resume() }
        timer.start(afterMilliseconds: Self.retryMilliseconds)
        retry = timer
    }

    private func resume() {
        guard !isClosed else { return }
        hold()
        do throws(LoopError) {
            try poll?.watch(.readable)
            retry = nil
        } catch {
            pause(error)
        }
    }
}
