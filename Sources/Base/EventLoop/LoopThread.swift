public import Glibc
import Synchronization

/// A loop with its own thread, for sharding connections and for tests.
public final class LoopThread: Sendable {
    /// The loop that the thread runs.
    public let loop: EventLoop
    private let thread: Mutex<pthread_t?>

    /// Starts the thread. Its loop runs until ``join()``.
    ///
    /// - Throws: `LoopError` when there is no memory or descriptor for another loop.
    public init() throws(LoopError) {
        let loop = try EventLoop()
        self.loop = loop
        var id = pthread_t()
        let context = Unmanaged.passRetained(loop).toOpaque()
        let code = pthread_create(
            &id, nil,
            { context in
                guard let context else { return nil }
                let loop = Unmanaged<EventLoop>.fromOpaque(context).takeRetainedValue()
                ThreadSignals.block()
                loop.run()
                return nil
            }, context)
        guard code == 0 else {
            Unmanaged<EventLoop>.fromOpaque(context).release()
            throw LoopError(code: -code, operation: "thread")
        }
        thread = Mutex(id)
    }

    /// Stops the loop and waits for its thread to end. The second call does nothing.
    public func join() {
        let id = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        guard let id else { return }
        loop.stop()
        pthread_join(id, nil)
    }
}

/// Signal masks of threads. Only the main thread takes signals; a signal that all threads block stays pending, even across `execv`.
public enum ThreadSignals {
    /// Blocks every signal in the calling thread and in threads that it starts.
    ///
    /// - Returns: the previous mask.
    @discardableResult
    public static func block() -> sigset_t {
        var set = sigset_t()
        var before = sigset_t()
        sigfillset(&set)
        pthread_sigmask(SIG_BLOCK, &set, &before)
        return before
    }

    /// Blocks these signals in the calling thread and in threads that it starts.
    public static func block(_ numbers: [Int32]) {
        var set = sigset_t()
        sigemptyset(&set)
        for number in numbers { sigaddset(&set, number) }
        pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// Restores the mask that ``block()`` returned.
    public static func restore(_ before: sigset_t) {
        var set = before
        pthread_sigmask(SIG_SETMASK, &set, nil)
    }
}
