import CLibuv
import CLinux
import Glibc

/// Reports when a descriptor of another library is readable or writable. Stops when it is released.
///
/// Stop watching before the owner closes the descriptor.
public final class Poll {
    /// The readiness of a descriptor.
    public struct Events: OptionSet, Sendable {
        public let rawValue: Int32

        public init(rawValue: Int32) { self.rawValue = rawValue }

        /// Readable: data has arrived, or the other end has finished.
        public static let readable = Events(rawValue: Int32(UV_READABLE.rawValue))
        /// Writable.
        public static let writable = Events(rawValue: Int32(UV_WRITABLE.rawValue))
    }

    private let handle: UnsafeMutablePointer<uv_poll_t>
    private let descriptor: Int32
    private let ready: (Result<Events, LoopError>) -> Void
    private var isClosed = false

    /// A poll that watches nothing yet; `ready` is called on `loop`, with an error if the descriptor failed.
    ///
    /// - Throws: `LoopError` for a descriptor that the kernel cannot watch, such as a file.
    public init(loop: EventLoop, descriptor: Int32, _ ready: @escaping (Result<Events, LoopError>) -> Void) throws(LoopError) {
        let handle = UnsafeMutablePointer<uv_poll_t>.allocate(capacity: 1)
        let code = uv_poll_init(loop.handle, handle, descriptor)
        guard code == 0 else {
            // libuv has not taken the handle, so it must not be closed.
            handle.deallocate()
            throw LoopError(code: code, operation: "poll", subject: "\(descriptor)")
        }
        self.handle = handle
        self.descriptor = descriptor
        self.ready = ready
        handle.pointee.data = Unmanaged.passUnretained(self).toOpaque()
    }

    deinit { close() }

    /// Watches for `events` from now on, instead of the previous ones; for none if it is empty.
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

    /// Stops watching for good.
    public func close() {
        guard !isClosed else { return }
        isClosed = true
        closeAndFree(handle)
    }
}

/// Reports changes of a file, or of the entries of a folder. Stops when it is released.
public final class FileWatcher {
    private let handle: UnsafeMutablePointer<uv_fs_event_t>
    private let changed: (String?) -> Void

    /// Watches `path`; `changed` gets the name of the changed entry if the kernel reports it.
    ///
    /// The replacement of a file by another one (editors save this way) is only visible in its folder: watch the folder.
    /// - Throws: `LoopError` when the path does not exist or no watch is left.
    public init(loop: EventLoop, path: String, _ changed: @escaping (String?) -> Void) throws(LoopError) {
        self.changed = changed
        handle = .allocate(capacity: 1)
        uv_fs_event_init(loop.handle, handle)
        handle.pointee.data = Unmanaged.passUnretained(self).toOpaque()
        let code = uv_fs_event_start(
            handle,
            { handle, name, _, _ in
                guard let data = handle?.pointee.data else { return }
                let watcher = Unmanaged<FileWatcher>.fromOpaque(data).takeUnretainedValue()
                watcher.changed(name.map { String(cString: $0) })
            }, path, 0)
        try check(code, "watch", path)
    }

    deinit { closeAndFree(handle) }
}

/// Turns a signal to the process into a call on a loop. Stops when it is released.
///
/// There is no signal handler: the signal stays pending until the loop takes it; without a watcher it stays pending, even across `execv`.
/// Every thread has to block it for that; see ``ThreadSignals``.
public final class SignalWatcher {
    private let descriptor: Int32
    private var poll: Poll?
    private let receive: () -> Void

    /// Watches for `signal`, for example `SIGTERM`, and blocks it in the calling thread permanently.
    ///
    /// - Throws: `LoopError` for a signal that cannot be caught.
    public init(loop: EventLoop, signal number: Int32, _ receive: @escaping () -> Void) throws(LoopError) {
        // An ignored signal, as in background jobs of a shell, would never become pending.
        var standard = sigaction()
        if sigaction(number, &standard, nil) != 0 { throw LoopError(code: -errno, operation: "signal", subject: "\(number)") }
        let descriptor = linux_signal_descriptor([number], 1)
        try check(descriptor, "signal", "\(number)")
        self.descriptor = descriptor
        self.receive = receive
        let poll = try Poll(loop: loop, descriptor: descriptor) { [weak self] _ in self?.take() }
        self.poll = poll
        try poll.watch(.readable)
    }

    private func take() {
        var isFromKernel: Int32 = 0
        while linux_next_signal(descriptor, &isFromKernel) > 0 { receive() }
    }

    deinit {
        poll?.close()
        close(descriptor)
    }
}
