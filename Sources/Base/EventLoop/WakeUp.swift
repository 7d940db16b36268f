import CLibuv
import CLinux

/// Lets other threads wake a loop, with an eventfd that the loop watches.
///
/// `uv_async_send` is not used: the loop spins with `sched_yield` until the sender has returned from the system call that wakes it (libuv
/// 1.44, `uv__async_spin`). A loop that preempts its sender would wait for a thread that cannot run. Here the sender has nothing to do
/// after the call.
struct WakeUp {
    private let descriptor: Int32
    private let handle: UnsafeMutablePointer<uv_poll_t>

    /// - Throws: `LoopError` when there is no descriptor left or the loop cannot watch it.
    init(loop: UnsafeMutablePointer<uv_loop_t>) throws(LoopError) {
        let descriptor = linux_event_descriptor()
        try check(descriptor, "eventfd")
        let handle = UnsafeMutablePointer<uv_poll_t>.allocate(capacity: 1)
        let code = uv_poll_init(loop, handle, descriptor)
        guard code == 0 else {
            linux_close_event(descriptor)
            handle.deallocate()
            throw LoopError(code: code, operation: "poll", subject: "eventfd")
        }
        // The callback only reads the descriptor: a loop checks its mailbox at the end of each turn in which it was signalled.
        handle.pointee.data = UnsafeMutableRawPointer(bitPattern: Int(descriptor))
        uv_poll_start(handle, Int32(UV_READABLE.rawValue)) { handle, _, _ in
            linux_clear_event(Int32(Int(bitPattern: handle?.pointee.data)))
        }
        self.descriptor = descriptor
        self.handle = handle
    }

    /// Ends the current or the next sleep of the loop. Callable from any thread.
    func signal() { linux_signal_event(descriptor) }

    /// Frees the resources. The loop has closed the handle before.
    func free() {
        linux_close_event(descriptor)
        handle.deallocate()
    }
}
