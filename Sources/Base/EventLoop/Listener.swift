import CLibuv
import CLinux
import Glibc

/// A listening TCP socket: hands every accepted connection to its owner.
///
/// Where the process has no descriptor left, a connection is accepted with one that is held for this; its owner is told by
/// ``Stream/isSurplus`` to refuse it. Until there is a descriptor to hold again, further connections wait in the kernel.
public final class Listener {
    private let loop: EventLoop
    private let descriptor: Int32
    private let accept: (Stream) -> Void
    private var poll: Poll?
    private var retry: Timer?
    /// A descriptor held in reserve; -1 for none.
    private var held: Int32 = -1
    private var isClosed = false

    /// The most connections accepted in one turn of the loop.
    private static let turnMax = 256
    private static let retryMilliseconds: UInt64 = 50

    /// The port that it listens on, the kernel's choice where 0 was asked for.
    public let port: Int
    /// Called on the loop when connections have to wait because the kernel refuses to hand them out.
    public var failed: ((LoopError) -> Void)?

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

    /// Listens on a bound socket that was handed over; it becomes the listener's, also when this fails.
    public init(
        loop: EventLoop, adopting descriptor: Int32, name: String, backlog: Int = 1024, accept: @escaping (Stream) -> Void
    ) throws(LoopError) {
        self.loop = loop
        self.accept = accept
        self.descriptor = descriptor
        port = SocketAddress.localPort(of: descriptor)
        // Errors from here on end in `deinit`, which closes the descriptor.
        if listen(descriptor, Int32(backlog)) != 0 { throw LoopError(code: -errno, operation: "listen", subject: name) }
        let poll = try Poll(loop: loop, descriptor: descriptor) { [unowned self] _ in acceptWaiting() }
        self.poll = poll
        try poll.watch(.readable)
        hold()
    }

    deinit { close() }

    /// Accepts no more connections. What is accepted stays open.
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
        for _ in 0..<Self.turnMax where !isClosed {
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
            // The client has gone while it waited; accept(2) tells errors of its network here, too.
            case EINTR, ECONNABORTED, EPROTO, ENETDOWN, ENOPROTOOPT, EHOSTDOWN, ENONET, EHOSTUNREACH, EOPNOTSUPP, ENETUNREACH: continue
            default: return pause(LoopError(code: result, operation: "accept", subject: "\(port)"))
            }
        }
    }

    private func take(_ connection: Int32, isSurplus: Bool = false) {
        let share = isSurplus ? .kept : DescriptorLimit.share(of: connection)
        // One that cannot be watched is closed, and its client comes again.
        guard let stream = try? Stream.adopting(connection: connection, loop: loop) else { return }
        stream.sendsAtOnce()
        stream.surplus = share
        accept(stream)
    }

    /// Accepts a connection in the place of the held descriptor.
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

    /// Leaves connections in the kernel for a moment.
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
