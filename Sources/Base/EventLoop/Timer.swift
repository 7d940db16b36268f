import CLibuv

/// Calls a closure after a while, once or again and again. Ends with its owner.
public final class Timer {
    private let handle: UnsafeMutablePointer<uv_timer_t>
    private let fire: () -> Void
    private var isClosed = false

    /// A timer that does not run yet; `fire` is called on `loop`.
    public init(loop: EventLoop, _ fire: @escaping () -> Void) {
        self.fire = fire
        handle = .allocate(capacity: 1)
        uv_timer_init(loop.handle, handle)
        handle.pointee.data = Unmanaged.passUnretained(self).toOpaque()
    }

    deinit { close() }

    /// Fires `afterMilliseconds` from the loop's time, then every `repeatMilliseconds` unless that is 0. Replaces what ran.
    public func start(afterMilliseconds: UInt64, repeatMilliseconds: UInt64 = 0) {
        guard !isClosed else { return }
        uv_timer_start(
            handle,
            { handle in
                guard let data = handle?.pointee.data else { return }
                Unmanaged<Timer>.fromOpaque(data).takeUnretainedValue().fire()
            }, afterMilliseconds, repeatMilliseconds)
    }

    /// Whether it will fire.
    public var isRunning: Bool { !isClosed && uv_is_active(UnsafeMutableRawPointer(handle).assumingMemoryBound(to: uv_handle_t.self)) != 0 }

    /// Does not fire until started again.
    public func stop() {
        if !isClosed { uv_timer_stop(handle) }
    }

    /// Never fires again.
    public func close() {
        guard !isClosed else { return }
        isClosed = true
        closeAndFree(handle)
    }
}

/// Closes a handle whose owner is done with it, and gives its memory back when libuv is.
func closeAndFree<Handle>(_ handle: UnsafeMutablePointer<Handle>) {
    let base = UnsafeMutableRawPointer(handle).assumingMemoryBound(to: uv_handle_t.self)
    base.pointee.data = nil
    guard uv_is_closing(base) == 0 else { return }
    uv_close(base) { UnsafeMutableRawPointer($0)?.deallocate() }
}
