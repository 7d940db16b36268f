import CLibuv

/// Calls a closure after a delay, once or repeatedly. Stops when it is released.
public final class Timer {
    private let handle: UnsafeMutablePointer<uv_timer_t>
    private let fire: () -> Void
    private var isClosed = false

    /// A stopped timer; `fire` is called on `loop`.
    public init(loop: EventLoop, _ fire: @escaping () -> Void) {
        self.fire = fire
        handle = .allocate(capacity: 1)
        uv_timer_init(loop.handle, handle)
        handle.pointee.data = Unmanaged.passUnretained(self).toOpaque()
    }

    deinit { close() }

    /// Fires after `afterMilliseconds`, then every `repeatMilliseconds` unless that is 0. Replaces a previous start.
    public func start(afterMilliseconds: UInt64, repeatMilliseconds: UInt64 = 0) {
        guard !isClosed else { return }
        uv_timer_start(
            handle,
            { handle in
                guard let data = handle?.pointee.data else { return }
                Unmanaged<Timer>.fromOpaque(data).takeUnretainedValue().fire()
            }, afterMilliseconds, repeatMilliseconds)
    }

    /// Whether the timer is started.
    public var isRunning: Bool { !isClosed && uv_is_active(UnsafeMutableRawPointer(handle).assumingMemoryBound(to: uv_handle_t.self)) != 0 }

    /// Stops the timer until it is started again.
    public func stop() {
        if !isClosed { uv_timer_stop(handle) }
    }

    /// Stops the timer for good.
    public func close() {
        guard !isClosed else { return }
        isClosed = true
        closeAndFree(handle)
    }
}

/// Closes a handle that its owner no longer needs, and frees its memory when libuv has finished with it.
func closeAndFree<Handle>(_ handle: UnsafeMutablePointer<Handle>) {
    let base = UnsafeMutableRawPointer(handle).assumingMemoryBound(to: uv_handle_t.self)
    base.pointee.data = nil
    guard uv_is_closing(base) == 0 else { return }
    uv_close(base) { UnsafeMutableRawPointer($0)?.deallocate() }
}
