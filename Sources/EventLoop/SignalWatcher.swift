import CLibuv

/// Turns a signal to the process into a call on a loop. Ends with its owner.
public final class SignalWatcher {
    private let handle: UnsafeMutablePointer<uv_signal_t>
    private let receive: () -> Void

    /// Watches for `signal`, for example `SIGTERM`.
    ///
    /// - Throws: `LoopError` for a signal that cannot be caught.
    public init(loop: EventLoop, signal: Int32, _ receive: @escaping () -> Void) throws(LoopError) {
        self.receive = receive
        handle = .allocate(capacity: 1)
        uv_signal_init(loop.handle, handle)
        handle.pointee.data = Unmanaged.passUnretained(self).toOpaque()
        let code = uv_signal_start(
            handle,
            { handle, _ in
                guard let data = handle?.pointee.data else { return }
                Unmanaged<SignalWatcher>.fromOpaque(data).takeUnretainedValue().receive()
            }, signal)
        try check(code, "signal", "\(signal)")
    }

    deinit { closeAndFree(handle) }
}
