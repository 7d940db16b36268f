import CLibuv
import Glibc
import Synchronization

/// The event loop of one thread: sockets, timers, processes, and Swift jobs.
///
/// A turn runs due timers, then events of the kernel, then the end of the turn: queued work runs, and each destination that was written to
/// gets all of its bytes with one system call. Other threads may call only ``post(_:)``, ``enqueue(_:)``, ``call(_:context:tag:)`` and
/// ``stop()``; all other functions, and every handle made on a loop, belong to the loop's thread.
///
/// A loop is a `TaskExecutor` and a `SerialExecutor`: a task started with its preference, or an actor that names it, never leaves its
/// thread.
public final class EventLoop: @unchecked Sendable {
    // Unchecked: state outside `mailbox` is used only on the loop's thread, which `preconditionCurrent` checks.

    let handle: UnsafeMutablePointer<uv_loop_t>
    private var wakeUp: WakeUp?
    private let prepareHandle: UnsafeMutablePointer<uv_prepare_t>
    private let idleHandle: UnsafeMutablePointer<uv_idle_t>
    private let owner: Atomic<UInt>
    private let mailbox = Mutex<[LoopWork]>([])
    /// Whether the loop checks ``mailbox`` before it sleeps, so that a sender need not wake it. Changed only under the mailbox lock; the
    /// loop reads it without the lock.
    private let isSignalled = Atomic(false)

    private var queue: [LoopWork] = []
    private var running: [LoopWork] = []
    /// The position of the next work in ``running``.
    private var next = 0
    private var dirtyStreams: [Stream] = []
    private var flushingStreams: [Stream] = []
    private var turnEndWork: [() -> Void] = []
    /// The streams that give way to others.
    var yieldingReads = YieldingReads()
    private var isIdling = false
    private var turnNanoseconds: UInt64 = 0
    /// The number of turns that have ended.
    private(set) var turns: UInt64 = 0
    private var isOpen = false

    /// Whether queued work takes turns with the events of sockets: beyond some milliseconds, or as much time as the events of the turn have
    /// taken, it goes on in the next turn. For a loop with connections of many clients, so that much work for some does not hold up the others.
    public var sharesTurns = false
    /// The time of queued work in a turn.
    private static let workNanoseconds: UInt64 = 2_000_000

    /// The buffer for reads on this loop. A reader uses it during its callback.
    let readBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 64)

    /// The progress of the current work. Owned by the loop until ``publishProgress(in:)``.
    private var progress: UnsafeMutablePointer<LoopProgress>
    private let ownProgress: UnsafeMutablePointer<LoopProgress>
    /// The tag of the current work, 0 if it has none.
    public var currentTag: UInt64 { progress.pointee.tag.load(ordering: .relaxed) }

    /// A loop without a thread. The thread that calls ``run()`` becomes the loop's.
    ///
    /// - Throws: `LoopError` when the kernel refuses the descriptors that it needs.
    public init() throws(LoopError) {
        handle = .allocate(capacity: 1)
        prepareHandle = .allocate(capacity: 1)
        idleHandle = .allocate(capacity: 1)
        owner = Atomic(0)
        ownProgress = .allocate(capacity: 1)
        ownProgress.initialize(to: LoopProgress())
        progress = ownProgress
        try Self.initialize(handle)
        isOpen = true
        let pointer = Unmanaged.passUnretained(self).toOpaque()
        wakeUp = try WakeUp(loop: handle)
        uv_prepare_init(handle, prepareHandle)
        prepareHandle.pointee.data = pointer
        uv_prepare_start(prepareHandle) { EventLoop.from($0?.pointee.data).endTurn() }
        uv_idle_init(handle, idleHandle)
        idleHandle.pointee.data = pointer
    }

    deinit {
        close()
        handle.deallocate()
        prepareHandle.deallocate()
        idleHandle.deallocate()
        readBuffer.deallocate()
        ownProgress.deinitialize(count: 1)
        ownProgress.deallocate()
    }

    private static func initialize(_ handle: UnsafeMutablePointer<uv_loop_t>) throws(LoopError) {
        // libuv (1.44, and still 1.48) leaves its epoll descriptor open where a later step of uv_loop_init fails.
        UnsafeMutableRawPointer(handle).initializeMemory(as: UInt8.self, repeating: 0, count: MemoryLayout<uv_loop_t>.size)
        handle.pointee.backend_fd = -1
        let code = uv_loop_init(handle)
        if code < 0, handle.pointee.backend_fd >= 0 { Glibc.close(handle.pointee.backend_fd) }
        try check(code, "loop")
    }

    private static func from(_ data: UnsafeMutableRawPointer?) -> EventLoop {
        guard let data else { preconditionFailure("a handle without its loop") }
        return Unmanaged<EventLoop>.fromOpaque(data).takeUnretainedValue()
    }

    // MARK: Running

    /// Runs until ``stop()``; the calling thread becomes the loop's.
    public func run() {
        owner.store(UInt(pthread_self()), ordering: .releasing)
        uv_run(handle, UV_RUN_DEFAULT)
    }

    /// Runs one turn without waiting. For tests that step a loop by hand.
    public func runOnce() {
        owner.store(UInt(pthread_self()), ordering: .releasing)
        uv_run(handle, UV_RUN_NOWAIT)
    }

    /// Ends ``run()`` at the end of this turn. Callable from any thread.
    public func stop() {
        post { uv_stop(self.handle) }
    }

    /// Closes the remaining handles and frees the loop's resources. Does nothing for a loop that was never opened.
    private func close() {
        guard isOpen else { return }
        isOpen = false
        uv_walk(handle, { handle, _ in if uv_is_closing(handle) == 0 { uv_close(handle, nil) } }, nil)
        while uv_run(handle, UV_RUN_NOWAIT) != 0 {}
        uv_loop_close(handle)
        wakeUp?.free()
    }

    /// Whether the caller is on the loop's thread.
    public var isCurrent: Bool { owner.load(ordering: .acquiring) == UInt(pthread_self()) }

    /// Stops the program unless the caller is on the loop's thread.
    public func preconditionCurrent() {
        precondition(isCurrent || owner.load(ordering: .acquiring) == 0, "this belongs to another loop's thread")
    }

    // MARK: Work

    /// Runs `work` on the loop. Callable from any thread.
    public func post(_ work: @escaping @Sendable () -> Void) { submit(.closure(work)) }

    /// Runs a C function on the loop, with ``currentTag`` set to `tag`. Callable from any thread.
    public func call(
        _ function: @escaping @convention(c) (UnsafeMutableRawPointer?) -> Void, context: UnsafeMutableRawPointer?, tag: UInt64
    ) {
        submit(.function(function, context, tag))
    }

    func submit(_ work: LoopWork) {
        if isCurrent {
            queue.append(work)
            return
        }
        let mustSignal = mailbox.withLock { mailbox in
            mailbox.append(work)
            return !isSignalled.exchange(true, ordering: .relaxed)
        }
        if mustSignal { wakeUp?.signal() }
    }

    /// Runs `work` once at the end of this turn, after pending writes. Call on the loop's thread.
    public func endOfTurn(_ work: @escaping () -> Void) { turnEndWork.append(work) }

    /// Runs `body` under `tag`, as ``call(_:context:tag:)`` does.
    public func withTag(_ tag: UInt64, _ body: () -> Void) {
        let outer = currentTag
        progress.pointee.enter(tag)
        body()
        progress.pointee.leave(to: outer)
    }

    /// Writes the progress into `memory` from now on. `memory` must live as long as the loop.
    public func publishProgress(in memory: UnsafeMutablePointer<LoopProgress>) { progress = memory }

    func markDirty(_ stream: Stream) { dirtyStreams.append(stream) }

    /// Takes the work that other threads have sent. If there is none, the next sender signals, so that the loop may sleep.
    private func collectMail() {
        // A sender that sets this flag after the read signals afterwards, which ends the sleep.
        guard isSignalled.load(ordering: .relaxed) else { return }
        mailbox.withLock { mailbox in
            if mailbox.isEmpty {
                isSignalled.store(false, ordering: .relaxed)
            } else if queue.isEmpty {
                swap(&queue, &mailbox)
            } else {
                queue.append(contentsOf: mailbox)
                mailbox.removeAll(keepingCapacity: true)
            }
        }
    }

    private var hasWork: Bool { !(queue.isEmpty && running.isEmpty && dirtyStreams.isEmpty && turnEndWork.isEmpty) }

    /// The end of a turn: queued work, then the sockets, then work that waited for both. Repeats while this creates more work or other
    /// threads send more.
    private func endTurn() {
        var rounds = 0
        let end = sharesTurns ? endOfWork() : .max
        // A bound, so that work which keeps creating work does not starve the sockets.
        while rounds < 16 {
            rounds += 1
            collectMail()
            guard hasWork else { break }
            runQueue(until: end)
            flushStreams()
            if !running.isEmpty { rounds = 16 }
            guard !turnEndWork.isEmpty else { continue }
            let work = turnEndWork
            turnEndWork.removeAll(keepingCapacity: true)
            for piece in work { piece() }
        }
        turnNanoseconds = 0
        turns += 1
        let haveYielded = yieldingReads.endTurn()
        setIdling(haveYielded || hasWork || isSignalled.load(ordering: .relaxed))
    }

    /// The time at which queued work gives way to the sockets.
    private func endOfWork() -> UInt64 {
        let now = uv_hrtime()
        // The loop's clock was read before the events of the turn.
        let events = now &- uv_now(handle) &* 1_000_000
        return now + max(Self.workNanoseconds, events < 1_000_000_000 ? events : 0)
    }

    private func runQueue(until end: UInt64) {
        if running.isEmpty { swap(&queue, &running) }
        while next < running.count {
            let work = running[next]
            next += 1
            run(work)
            if end != .max, next < running.count, uv_hrtime() >= end { return }
        }
        running.removeAll(keepingCapacity: true)
        next = 0
    }

    private func flushStreams() {
        guard !dirtyStreams.isEmpty else { return }
        swap(&dirtyStreams, &flushingStreams)
        for stream in flushingStreams { stream.flush() }
        flushingStreams.removeAll(keepingCapacity: true)
    }

    @inline(__always)
    private func run(_ work: LoopWork) {
        switch work {
        case .job(let job):
            job.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
        case .closure(let closure):
            closure()
        case .function(let function, let context, let tag):
            withTag(tag) { function(context) }
        }
    }

    /// An idle handle makes the next poll return at once, so that a turn with remaining work is followed by another.
    private func setIdling(_ wanted: Bool) {
        guard wanted != isIdling else { return }
        isIdling = wanted
        if wanted { uv_idle_start(idleHandle) { _ in } } else { uv_idle_stop(idleHandle) }
    }

    // MARK: Time

    /// The loop's clock in milliseconds, read once a turn.
    public var nowMilliseconds: UInt64 { uv_now(handle) }

    /// The time of this turn in nanoseconds of `CLOCK_MONOTONIC`, read on first use in a turn.
    public var nowNanoseconds: UInt64 {
        if turnNanoseconds == 0 { turnNanoseconds = uv_hrtime() }
        return turnNanoseconds
    }

    /// Nanoseconds of `CLOCK_MONOTONIC`. Host and workers share this clock.
    public static func monotonicNanoseconds() -> UInt64 { uv_hrtime() }
}

/// One piece of work for a loop, small enough to queue without an allocation.
/// Unchecked: the context pointer is only passed to its function, once, on the loop's thread.
enum LoopWork: @unchecked Sendable {
    case job(UnownedJob)
    case closure(@Sendable () -> Void)
    case function(@convention(c) (UnsafeMutableRawPointer?) -> Void, UnsafeMutableRawPointer?, UInt64)
}

extension EventLoop: TaskExecutor, SerialExecutor {
    /// Takes a Swift concurrency job. It runs at the end of the current turn, on this loop's thread.
    public func enqueue(_ job: consuming ExecutorJob) { submit(.job(UnownedJob(job))) }

    public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

    public func asUnownedTaskExecutor() -> UnownedTaskExecutor { UnownedTaskExecutor(ordinary: self) }

    public func checkIsolated() { preconditionCurrent() }

    public func isIsolatingCurrentContext() -> Bool? { isCurrent }
}
