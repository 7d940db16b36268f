import HearthBytes
import CLibuv
import Glibc

/// Receives the events of a ``Stream``, always on the loop's thread.
public protocol StreamHandler: AnyObject {
    /// Bytes arrived. They are gone after this call.
    func stream(_ stream: Stream, didRead bytes: Span<UInt8>)
    /// The peer has finished sending; writing is still possible.
    func streamDidEnd(_ stream: Stream)
    /// The queue has fallen below the low watermark after ``Stream/isCongested`` was true.
    func streamDidDrain(_ stream: Stream)
    /// The peer of a TLS stream began with a line of text, as a client of `http://` does. The stream has left TLS, so the peer can read a
    /// plain answer.
    func streamDidReceivePlaintext(_ stream: Stream)
    /// Reading or writing failed; the stream closes right after this.
    func stream(_ stream: Stream, didFail error: LoopError)
    /// The last call, exactly once for every stream.
    func streamDidClose(_ stream: Stream)
    /// The outbox is about to be sent, and the kernel has taken everything before it. Called if ``Stream/asksBeforeFlush``.
    ///
    /// - Returns: whether more would be appended if asked again.
    func streamWillFlush(_ stream: Stream) -> Bool
    /// The charge for bytes that the peer has not taken; requested when the first such bytes exist.
    func memory(for stream: Stream) -> MemoryCharge
}

extension StreamHandler {
    /// Nothing waits for the moment before the outbox is sent.
    public func streamWillFlush(_ stream: Stream) -> Bool { false }

    /// A charge that counts nothing.
    public func memory(for stream: Stream) -> MemoryCharge { MemoryCharge() }
}

extension StreamHandler {
    /// Closes the stream, as any other handshake that fails does.
    public func streamDidReceivePlaintext(_ stream: Stream) { stream.close() }
}

/// A connected TCP or Unix socket, or a pipe, on a loop; with TLS after ``startTLS(_:)``.
///
/// Writing queues bytes; those of one turn are sent with one system call at its end. The loop keeps an open stream alive, and the stream
/// its handler, until ``close()``.
public final class Stream {
    /// The loop that it belongs to.
    public let loop: EventLoop
    /// Receives the events. Released when the stream closes.
    public var handler: (any StreamHandler)?
    /// The queued bytes. Append to it and call ``queueFlush()``, or use `write`.
    public var outbox = ByteBuffer()
    /// Whether reading gives way to other streams.
    public var yielding = Yielding.never
    /// The number of queued bytes from which on ``isCongested`` is true. The low watermark is a quarter of it.
    public var highWatermark = 64 * 1024

    /// Whether the handler can append to the outbox just before it is sent.
    public var asksBeforeFlush = false

    let handle: UnsafeMutablePointer<uv_stream_t>
    var inFlight = ByteBuffer()
    /// Counts queued bytes that the kernel did not take at once.
    var charge = MemoryCharge()
    var writeRequest: UnsafeMutablePointer<uv_write_t>?
    var tls: TLSSession?
    var state = State.open
    var isDirty = false
    var isReading = false
    /// Whether reading waits in the loop's queue.
    var isYielding = false
    /// Whether the next read does not wait, because the stream has waited.
    var isNext = false
    var wasCongested = false
    var surplus = DescriptorLimit.Share.usable

    enum State { case open, finishing, closed }

    /// Whether a stream may have to wait while the loop has much to read, so that others are not held up.
    public enum Yielding: Sendable {
        case never
        /// A stream whose purpose is not known yet.
        case asNewcomer
        case always
    }

    init<Handle>(loop: EventLoop, handle: UnsafeMutablePointer<Handle>) {
        self.loop = loop
        self.handle = UnsafeMutableRawPointer(handle).assumingMemoryBound(to: uv_stream_t.self)
        self.handle.pointee.data = Unmanaged.passRetained(self).toOpaque()
    }

    /// A stream over a Unix socket or a pipe, whose descriptor it owns from now on.
    ///
    /// - Throws: `LoopError` when the descriptor is neither.
    public static func adopting(descriptor: Int32, loop: EventLoop) throws(LoopError) -> Stream {
        let pipe = UnsafeMutablePointer<uv_pipe_t>.allocate(capacity: 1)
        uv_pipe_init(loop.handle, pipe, 0)
        let code = uv_pipe_open(pipe, descriptor)
        if code < 0 {
            Glibc.close(descriptor)
            closeAndFree(pipe)
            throw LoopError(code: code, operation: "open", subject: "descriptor \(descriptor)")
        }
        return Stream(loop: loop, handle: pipe)
    }

    /// A stream over a connected TCP socket, whose descriptor it owns from now on.
    ///
    /// - Throws: `LoopError` when the descriptor is none.
    public static func adopting(connection descriptor: Int32, loop: EventLoop) throws(LoopError) -> Stream {
        let handle = UnsafeMutablePointer<uv_tcp_t>.allocate(capacity: 1)
        uv_tcp_init(loop.handle, handle)
        let code = uv_tcp_open(handle, descriptor)
        if code < 0 {
            Glibc.close(descriptor)
            closeAndFree(handle)
            throw LoopError(code: code, operation: "open", subject: "descriptor \(descriptor)")
        }
        return Stream(loop: loop, handle: handle)
    }

    /// The descriptor; nil once the stream is closed.
    var descriptor: Int32? {
        var descriptor: uv_os_fd_t = -1
        let base = UnsafeMutableRawPointer(handle).assumingMemoryBound(to: uv_handle_t.self)
        return state != .closed && uv_fileno(base, &descriptor) == 0 ? descriptor : nil
    }

    /// Duplicates the descriptor for another process; nil when none is free.
    public func duplicateDescriptor() -> Int32? {
        guard let descriptor else { return nil }
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        return copy < 0 ? nil : copy
    }

    /// Whether descriptors are scarce: refuse the connection and close it soon.
    public var isSurplus: Bool { surplus != .usable }

    /// Whether to close the connection without a refusal.
    public var isToBeClosed: Bool { surplus == .forbidden }

    /// Disables Nagle's algorithm: small writes are sent at once.
    func sendsAtOnce() {
        if handle.pointee.type == UV_TCP { uv_tcp_nodelay(UnsafeMutableRawPointer(handle).assumingMemoryBound(to: uv_tcp_t.self), 1) }
    }

    /// Whether the stream uses TLS.
    public var isTLS: Bool { tls != nil }

    /// Whether the peer and this side have agreed on HTTP/2 in the TLS handshake.
    public var hasAgreedOnHTTP2: Bool { tls?.hasAgreedOnHTTP2 ?? false }

    /// Sets the address of a peer that the socket itself does not know.
    public func setPeerAddress(_ address: String) { peerAddress = address }

    // MARK: Closing

    /// Whether the stream is closed.
    public var isClosed: Bool { state == .closed }

    /// Sends queued bytes, then shuts down writing. Reading continues; the owner still has to close.
    public func finish() {
        guard state == .open else { return }
        state = .finishing
        queueFlush()
    }

    /// Closes at once; queued bytes are lost. A second call does nothing.
    public func close() {
        guard state != .closed else { return }
        state = .closed
        isReading = false
        closeAndFree(handle)
        if inFlight.isEmpty { freeWriteRequest() }
        outbox.clear(keepingAtMost: 0)
        charge.set(to: 0)
        tls = nil
        let owner = handler
        handler = nil
        owner?.streamDidClose(self)
        // The loop's reference, taken in `init`.
        Unmanaged.passUnretained(self).release()
    }

    func fail(_ error: LoopError) {
        guard state != .closed else { return }
        handler?.stream(self, didFail: error)
        close()
    }

    func freeWriteRequest() {
        writeRequest?.deallocate()
        writeRequest = nil
    }

    // MARK: Addresses

    /// The peer's address and port, for example `127.0.0.1:50000` or `[::1]:50000`; empty for a Unix socket. Looked up once.
    public private(set) lazy var peerAddress = findPeerAddress()

    private func findPeerAddress() -> String {
        guard state != .closed, handle.pointee.type == UV_TCP else { return "" }
        var storage = sockaddr_storage()
        var length = Int32(MemoryLayout<sockaddr_storage>.size)
        let code = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                uv_tcp_getpeername(UnsafeMutableRawPointer(handle).assumingMemoryBound(to: uv_tcp_t.self), address, &length)
            }
        }
        return code == 0 ? SocketAddress.text(of: &storage) : ""
    }
}
