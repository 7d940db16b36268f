import CLibuv

/// Tells when a descriptor that another library owns can be read or written. Ends with its owner.
///
/// The watch has to end before its owner closes the descriptor.
public final class Poll {
    /// What a descriptor is ready for.
    public struct Events: OptionSet, Sendable {
        public let rawValue: Int32

        public init(rawValue: Int32) { self.rawValue = rawValue }

        /// Something can be read, or the other end has finished.
        public static let readable = Events(rawValue: Int32(UV_READABLE.rawValue))
        /// There is room to write.
        public static let writable = Events(rawValue: Int32(UV_WRITABLE.rawValue))
    }

    private let handle: UnsafeMutablePointer<uv_poll_t>
    private let descriptor: Int32
    private let ready: (Result<Events, LoopError>) -> Void
    private var isClosed = false

    /// Watches nothing yet; `ready` is called on `loop`, with an error where the descriptor failed.
    ///
    /// - Throws: `LoopError` for a descriptor that the kernel cannot watch, such as a file.
    public init(loop: EventLoop, descriptor: Int32, _ ready: @escaping (Result<Events, LoopError>) -> Void) throws(LoopError) {
        let handle = UnsafeMutablePointer<uv_poll_t>.allocate(capacity: 1)
        let code = uv_poll_init(loop.handle, handle, descriptor)
        guard code == 0 else {
            // libuv has not taken the handle, so it is not closed either.
            handle.deallocate()
            throw LoopError(code: code, operation: "poll", subject: "\(descriptor)")
        }
        self.handle = handle
        self.descriptor = descriptor
        self.ready = ready
        handle.pointee.data = Unmanaged.passUnretained(self).toOpaque()
    }

    deinit { close() }

    /// Watches for `events` from now on, in place of those before; for none of them when it is empty.
    ///
    /// - Throws: `LoopError` when the kernel refuses.
    public func watch(_ events: Events) throws(LoopError) {
        guard !isClosed else { return }
        if events.isEmpty {
            uv_poll_stop(handle)
            return
        }
        let code = uv_poll_start(handle, events.rawValue) { handle, status, events in
            guard let data = handle?.pointee.data else { return }
            let poll = Unmanaged<Poll>.fromOpaque(data).takeUnretainedValue()
            let failure = status < 0 ? LoopError(code: status, operation: "poll", subject: "\(poll.descriptor)") : nil
            poll.ready(failure.map { .failure($0) } ?? .success(Events(rawValue: events)))
        }
        try check(code, "poll", "\(descriptor)")
    }

    /// Never reports again.
    public func close() {
        guard !isClosed else { return }
        isClosed = true
        closeAndFree(handle)
    }
}
