import CLinux
import Glibc
import Synchronization

/// Thread pools for all loops of the process, which live as long as the process.
///
/// libuv's pool is not used: it ends the process when it cannot start a thread, and it wakes the loop with `uv_async_send` (see
/// ``WakeUp``). libdispatch is not used: it ends the process when it cannot open a descriptor.
final class SharedThreads: @unchecked Sendable {
    // Unchecked: a semaphore is thread-safe; the other state is behind the mutex or never changes.

    /// For work that blocks: files, password hashes, starting processes.
    static let blocking = SharedThreads(threadsMax: 4)
    /// For computations that take long: parsing large texts.
    static let computing = SharedThreads(threadsMax: min(Processors.available, 4))
    /// For Swift tasks, which compute and do not block.
    static let tasks = SharedThreads(threadsMax: min(max(sysconf(Int32(_SC_NPROCESSORS_ONLN)), 2), 16))

    private struct State: ~Copyable {
        var threads = 0
        /// In order of arrival; entries before `next` have been taken.
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

    /// Starts the missing threads.
    ///
    /// - Throws: `LoopError` when the pool has no thread and none can be started.
    func start() throws(LoopError) {
        try state.withLock { state throws(LoopError) in try start(&state) }
    }

    /// Runs `work` on a pool thread; on the caller's thread if the pool has none and none can be started.
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

    /// From now on, runs jobs of tasks that have no executor.
    func takeSwiftTasks() throws(LoopError) {
        try start()
        linux_take_swift_tasks { job in
            let job = SwiftJob(address: UInt(bitPattern: job))
            SharedThreads.tasks.run { job.run() }
        }
    }

    /// A job of the Swift runtime.
    private struct SwiftJob: Sendable {
        let address: UInt

        func run() { linux_run_swift_job(UnsafeMutableRawPointer(bitPattern: address)) }
    }
}

/// Starts detached threads.
public enum DetachedThread {
    /// Runs `body` on a new thread with all signals blocked.
    ///
    /// - Throws: `LoopError` when the kernel has no thread or memory left.
    public static func start(_ body: @escaping @Sendable () -> Void) throws(LoopError) {
        let context = Unmanaged.passRetained(Start(body))
        // The new thread inherits the signal mask.
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
    /// Starts the pool threads for ``offload(_:)`` and for Swift tasks. After this succeeds, work never waits for lack of a thread.
    ///
    /// - Throws: `LoopError` when none can be started.
    public static func startThreadPools() throws(LoopError) {
        try SharedThreads.blocking.start()
        try SharedThreads.tasks.takeSwiftTasks()
    }

    /// Runs `work` on the pool for blocking work, without a completion. Callable from any thread.
    public static func offload(_ work: @escaping @Sendable () -> Void) { SharedThreads.blocking.run(work) }

    /// Runs `work` on the pool for blocking work: files, password hashes, keys.
    ///
    /// Callable from any thread. The caller continues where it was once `work` has returned or thrown.
    public func offload<Answer: Sendable, Failure: Error>(
        _ work: @escaping @Sendable () throws(Failure) -> Answer
    ) async throws(Failure) -> Answer {
        let result: Result<Answer, Failure> = await withCheckedContinuation { continuation in
            SharedThreads.blocking.run { continuation.resume(returning: Result { () throws(Failure) in try work() }) }
        }
        return try result.get()
    }

    /// Runs `work` on the pool for blocking work, then `completion` on this loop. Call on the loop.
    public func offload<Answer: Sendable>(_ work: @escaping @Sendable () -> Answer, then completion: @escaping (Answer) -> Void) {
        let reference = LoopBound(completion, loop: self)
        SharedThreads.blocking.run { [self] in
            let answer = work()
            post { reference.value(answer) }
        }
    }

    /// Runs a computation that takes long on a pool thread, then `completion` on this loop. Call on the loop.
    public func compute<Answer: Sendable>(_ work: @escaping @Sendable () -> Answer, then completion: @escaping (Answer) -> Void) {
        let reference = LoopBound(completion, loop: self)
        SharedThreads.computing.run { [self] in
            let answer = work()
            post { reference.value(answer) }
        }
    }
}
