import CLinux
import Glibc
import Synchronization

/// Threads that are shared by all loops of the process and live as long as it does.
///
/// libuv's pool is not used: it ends the process where it can start no thread, and tells its loop of each piece of work by `uv_async_send`,
/// for which see ``WakeUp``. Nor is libdispatch, which ends the process where it can open no descriptor.
final class SharedThreads: @unchecked Sendable {
    // Unchecked: a semaphore is made to be used from any thread, and the rest is behind the mutex or never changes.

    /// For work that blocks: files, password hashes, processes that are started.
    static let blocking = SharedThreads(threadsMax: 4)
    /// For Swift's tasks, which compute and do not block.
    static let tasks = SharedThreads(threadsMax: min(max(sysconf(Int32(_SC_NPROCESSORS_ONLN)), 2), 16))

    private struct State: ~Copyable {
        var threads = 0
        /// In the order of arrival; entries before `next` have been taken.
        var work: [(@Sendable () -> Void)?] = []
        var next = 0

        mutating func take() -> (@Sendable () -> Void)? {
            guard next < work.count else { return nil }
            defer {
                next += 1
                if next == work.count {
                    work.removeAll(keepingCapacity: true)
                    next = 0
                } else if next >= 1024, next * 2 > work.count {
                    work.removeFirst(next)
                    next = 0
                }
            }
            // The closure must be released after it has run.
            let taken = work[next]
            work[next] = nil
            return taken
        }
    }

    private let threadsMax: Int
    private let state = Mutex(State())
    private let available = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    private init(threadsMax: Int) {
        self.threadsMax = threadsMax
        sem_init(available, 0, 0)
    }

    /// Makes the threads that are missing.
    ///
    /// - Throws: `LoopError` when there is none and none can be made.
    func start() throws(LoopError) {
        try state.withLock { state throws(LoopError) in try start(&state) }
    }

    /// Runs `work` soon: on the caller's thread where the pool has none and the system gives it none.
    func run(_ work: @escaping @Sendable () -> Void) {
        let hasThreads = state.withLock { state in
            do throws(LoopError) { try start(&state) } catch { return false }
            state.work.append(work)
            return true
        }
        if hasThreads { sem_post(available) } else { work() }
    }

    private func start(_ state: inout State) throws(LoopError) {
        while state.threads < threadsMax {
            do throws(LoopError) {
                try DetachedThread.start { [self] in takeForever() }
                state.threads += 1
            } catch {
                guard state.threads > 0 else { throw error }
                return
            }
        }
    }

    private func takeForever() {
        while true {
            if sem_wait(available) == 0 { state.withLock { $0.take() }?() }
        }
    }

    // MARK: Swift's tasks

    /// Runs the jobs of tasks that have no executor, from now on.
    func takeSwiftTasks() throws(LoopError) {
        try start()
        linux_take_swift_tasks { job in
            let job = SwiftJob(address: UInt(bitPattern: job))
            SharedThreads.tasks.run { job.run() }
        }
    }

    /// A job as the runtime names it.
    private struct SwiftJob: Sendable {
        let address: UInt

        func run() { linux_run_swift_job(UnsafeMutableRawPointer(bitPattern: address)) }
    }
}

/// Starts detached threads.
public enum DetachedThread {
    /// Runs `body` on a thread of its own, which gets none of the process's signals.
    ///
    /// - Throws: `LoopError` when the kernel has no thread or no memory for it.
    public static func start(_ body: @escaping @Sendable () -> Void) throws(LoopError) {
        let context = Unmanaged.passRetained(Start(body))
        // The thread inherits what is blocked while it is made.
        let before = ThreadSignals.block()
        defer { ThreadSignals.restore(before) }
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                Unmanaged<Start>.fromOpaque(context).takeRetainedValue().body()
                return nil
            }, context.toOpaque())
        guard code == 0 else {
            context.release()
            throw LoopError(code: -code, operation: "thread")
        }
        pthread_detach(thread)
    }

    /// Carries a closure through `pthread_create`.
    private final class Start: Sendable {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
}

extension EventLoop {
    /// Makes the threads that ``offload(_:)`` uses, and those for Swift's tasks. Once this has succeeded, nothing waits for want of one.
    ///
    /// - Throws: `LoopError` when none can be made.
    public static func startThreadPools() throws(LoopError) {
        try SharedThreads.blocking.start()
        try SharedThreads.tasks.takeSwiftTasks()
    }

    /// Runs `work` on a thread of the pool for work that blocks, and nothing afterwards. Can be called from anywhere.
    public static func offload(_ work: @escaping @Sendable () -> Void) { SharedThreads.blocking.run(work) }

    /// Runs `work` on a thread of its own pool, for what would block the loop: files, password hashes, keys.
    ///
    /// Called from anywhere; the caller goes on where it was once `work` has returned or thrown.
    public func offload<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T {
        let result: Result<T, any Error> = await withCheckedContinuation { continuation in
            SharedThreads.blocking.run { continuation.resume(returning: Result { try work() }) }
        }
        return try result.get()
    }

    /// Runs `work` on a thread of its own pool, then `completion` on this loop. To be called on the loop.
    public func offload<Answer: Sendable>(_ work: @escaping @Sendable () -> Answer, then completion: @escaping (Answer) -> Void) {
        let reference = LoopBound(completion, loop: self)
        SharedThreads.blocking.run { [self] in
            let answer = work()
            post { reference.value(answer) }
        }
    }
}
