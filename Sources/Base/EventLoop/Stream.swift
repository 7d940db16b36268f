import HearthBytes
import CLibuv
import Glibc

/// What a ``Stream`` tells its owner, always on the loop's thread.
public protocol StreamHandler: AnyObject {
    /// Bytes arrived. They are gone after this call.
    func stream(_ stream: Stream, didRead bytes: Span<UInt8>)
    /// The peer has finished sending; writing is still possible.
    func streamDidEnd(_ stream: Stream)
    /// What was queued has fallen below the low watermark after ``Stream/isCongested`` was seen.
    func streamDidDrain(_ stream: Stream)
    /// The peer of a stream with TLS began with a line of text, as a client of `http://` does. The stream has left TLS; the peer reads
    /// what is written now.
    func streamDidReceivePlaintext(_ stream: Stream)
    /// Reading or writing failed; the stream closes right after this.
    func stream(_ stream: Stream, didFail error: LoopError)
    /// The last call, exactly once for every stream.
    func streamDidClose(_ stream: Stream)
    /// The charge for bytes that the peer has not taken; requested when the first such bytes exist.
    func memory(for stream: Stream) -> MemoryCharge
}

extension StreamHandler {
    /// Counts them nowhere.
    public func memory(for stream: Stream) -> MemoryCharge { MemoryCharge() }
}

extension StreamHandler {
    /// Closes the stream, as any other handshake that fails does.
    public func streamDidReceivePlaintext(_ stream: Stream) { stream.close() }
}

/// A connected TCP or Unix socket, or a pipe, on a loop; with TLS where ``startTLS(_:)`` was called.
///
/// Writing only queues: what was queued in one turn of the loop leaves with one system call at its end. An open stream is
/// kept alive by its loop and keeps its handler alive, until ``close()``.
public final class Stream {
    /// The loop that it belongs to.
    public let loop: EventLoop
    /// Whom it tells what happens. Let go when the stream closes.
    public var handler: (any StreamHandler)?
    /// What waits to be written. Append to it and call ``queueFlush()``, or use `write`.
    public var outbox = ByteBuffer()
    /// How many bytes may wait before ``isCongested`` says so; draining means to fall to a quarter of it.
    public var highWatermark = 64 * 1024

    let handle: UnsafeMutablePointer<uv_stream_t>
    var inFlight = ByteBuffer()
    /// Counts queued bytes that the kernel did not take at once.
    var charge = MemoryCharge()
    var writeRequest: UnsafeMutablePointer<uv_write_t>?
    var tls: TLSSession?
    var state = State.open
    var isDirty = false
    var isReading = false
    var wasCongested = false
    var surplus = DescriptorLimit.Share.usable

    enum State { case open, finishing, closed }

    init<Handle>(loop: EventLoop, handle: UnsafeMutablePointer<Handle>) {
        self.loop = loop
        self.handle = UnsafeMutableRawPointer(handle).assumingMemoryBound(to: uv_stream_t.self)
        self.handle.pointee.data = Unmanaged.passRetained(self).toOpaque()
    }

    /// A stream over a descriptor that is a Unix socket or a pipe; it becomes the stream's.
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

    /// A stream over a connected TCP socket; it becomes the stream's.
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

    /// Another descriptor of what it reads and writes, for another process to go on with; nil when there is none to be had.
    public func duplicateDescriptor() -> Int32? {
        var descriptor: uv_os_fd_t = -1
        let base = UnsafeMutableRawPointer(handle).assumingMemoryBound(to: uv_handle_t.self)
        guard state != .closed, uv_fileno(base, &descriptor) == 0 else { return nil }
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        return copy < 0 ? nil : copy
    }

    /// Whether descriptors are scarce: refuse the connection and close it soon.
    public var isSurplus: Bool { surplus != .usable }

    /// Whether to close the connection without a refusal.
    public var isToBeClosed: Bool { surplus == .forbidden }

    /// Lets what is written leave at once, however little it is.
    func sendsAtOnce() {
        if handle.pointee.type == UV_TCP { uv_tcp_nodelay(UnsafeMutableRawPointer(handle).assumingMemoryBound(to: uv_tcp_t.self), 1) }
    }

    /// Whether TLS is spoken on it.
    public var isTLS: Bool { tls != nil }

    /// Names the peer of a stream whose own end does not know it.
    public func setPeerAddress(_ address: String) { peerAddress = address }

    // MARK: Closing

    /// Whether nothing can be written any more.
    public var isClosed: Bool { state == .closed }

    /// Sends what is queued, then tells the peer that no more comes. Reading goes on; the owner still closes.
    public func finish() {
        guard state == .open else { return }
        state = .finishing
        queueFlush()
    }

    /// Closes at once; what is still queued is lost. The second call does nothing.
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
        // The loop's own reference, taken in `init`.
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

    /// The peer's address and port, for example `127.0.0.1:50000` or `[::1]:50000`; empty for a Unix socket. Asked for once.
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
