import CLinux
import Glibc

/// Turns a signal to the process into a call on a loop. Ends with its owner.
///
/// There is no handler: the signal waits in the kernel until the loop takes it, and what no watcher has taken waits on, also through
/// `execv`. For that every thread has to block it, which ``ThreadSignals`` sees to.
public final class SignalWatcher {
    private let descriptor: Int32
    private var poll: Poll?
    private let receive: () -> Void

    /// Watches for `signal`, for example `SIGTERM`, and blocks it in the calling thread for good.
    ///
    /// - Throws: `LoopError` for a signal that cannot be caught.
    public init(loop: EventLoop, signal number: Int32, _ receive: @escaping () -> Void) throws(LoopError) {
        // One that is ignored, as by a shell's background jobs, would never wait.
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
