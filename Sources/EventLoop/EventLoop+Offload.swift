import Glibc
import Synchronization

extension EventLoop {
    /// Runs `work` on a thread of its own pool, for what would block the loop: files, password hashes, keys.
    ///
    /// Called from anywhere; the caller goes on where it was once `work` has returned or thrown.
    public func offload<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T {
        let result: Result<T, any Error> = await withCheckedContinuation { continuation in
            BlockingPool.shared.run { continuation.resume(returning: Result { try work() }) }
        }
        return try result.get()
    }
}

/// Threads for work that blocks, shared by all loops of the process. They are started when there is work for them and stay.
///
/// libuv's pool is not used: it ends the process where it can start no thread, and tells its loop of each piece of work by `uv_async_send`,
/// for which see ``WakeUp``.
final class BlockingPool: Sendable {
    static let shared = BlockingPool()

    private static let threadsMax = 4

    private struct State {
        /// In the order in which it came; what stands before `next` has been taken.
        var work: [@Sendable () -> Void] = []
        var next = 0
        var threads = 0
        var idle = 0

        mutating func take() -> (@Sendable () -> Void)? {
            guard next < work.count else { return nil }
            defer {
                next += 1
                if next == work.count {
                    work.removeAll(keepingCapacity: true)
                    next = 0
                }
            }
            return work[next]
        }
    }

    private let state = Mutex(State())
    private let available: Semaphore

    private init() { available = Semaphore() }

    /// Runs `work` soon: on the caller's thread where the pool has none and the system gives it none.
    func run(_ work: @escaping @Sendable () -> Void) {
        let wantsThread = state.withLock { state in
            state.work.append(work)
            guard state.idle < state.work.count - state.next, state.threads < Self.threadsMax else { return false }
            state.threads += 1
            return true
        }
        if wantsThread, !startThread() {
            let hasThreads = state.withLock { state in
                state.threads -= 1
                return state.threads > 0
            }
            guard hasThreads else {
                while let work = state.withLock({ $0.take() }) { work() }
                return
            }
        }
        available.signal()
    }

    private func startThread() -> Bool {
        // The thread inherits what is blocked while it is made.
        let before = ThreadSignals.block()
        defer { ThreadSignals.restore(before) }
        var id = pthread_t()
        let code = pthread_create(&id, nil, { _ in BlockingPool.shared.work() }, nil)
        guard code == 0 else { return false }
        pthread_detach(id)
        return true
    }

    private func work() -> Never {
        while true {
            state.withLock { $0.idle += 1 }
            available.wait()
            let work = state.withLock { state in
                state.idle -= 1
                return state.take()
            }
            work?()
        }
    }
}

/// A counting semaphore of POSIX.
private final class Semaphore: @unchecked Sendable {
    // Unchecked: the pointer never changes, and POSIX lets any thread use what it points to.
    private let handle = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    init() { sem_init(handle, 0, 0) }

    deinit {
        sem_destroy(handle)
        handle.deallocate()
    }

    func signal() { sem_post(handle) }

    func wait() { while sem_wait(handle) != 0 {} }
}
