public import Glibc
import Synchronization

/// A loop on a thread of its own, for sharding connections and for tests.
public final class LoopThread: Sendable {
    /// The loop that the thread runs.
    public let loop: EventLoop
    private let thread: Mutex<pthread_t?>

    /// Starts the thread; its loop runs until ``join()``.
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

/// Which thread gets the process's signals: the main one. What is blocked by all of them waits, also through `execv`.
public enum ThreadSignals {
    /// Keeps every signal from the calling thread, and from those that it starts.
    ///
    /// - Returns: what was kept from it before.
    @discardableResult
    public static func block() -> sigset_t {
        var set = sigset_t()
        var before = sigset_t()
        sigfillset(&set)
        pthread_sigmask(SIG_BLOCK, &set, &before)
        return before
    }

    /// Keeps these signals from the calling thread, and from those that it starts.
    public static func block(_ numbers: [Int32]) {
        var set = sigset_t()
        sigemptyset(&set)
        for number in numbers { sigaddset(&set, number) }
        pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// Goes back to what ``block()`` returned.
    public static func restore(_ before: sigset_t) {
        var set = before
        pthread_sigmask(SIG_SETMASK, &set, nil)
    }
}
