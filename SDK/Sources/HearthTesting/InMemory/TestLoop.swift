import Glibc
internal import Synchronization

/// A thread that runs jobs one after the other, as the event loop of a worker does. A plugin is called on one thread only.
// State that is not behind the mutex belongs to the thread. The pipe's descriptors never change.
final class TestLoop: @unchecked Sendable {
    private struct Job {
        var due: ContinuousClock.Instant
        /// Jobs of equal times run in the order in which they were added.
        var number: UInt64
        var run: @Sendable () -> Void
    }

    private struct State {
        var jobs: [Job] = []
        var lastNumber: UInt64 = 0
        var isStopped = false
        var thread: pthread_t = 0
    }

    private let state = Mutex(State())
    /// Written to when a job is added: the read end wakes the thread.
    private let wakeUp: (read: Int32, write: Int32)

    /// Starts the thread.
    init() {
        var ends: [Int32] = [-1, -1]
        pipe(&ends)
        for end in ends { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        wakeUp = (ends[0], ends[1])
        var thread = pthread_t()
        // The thread holds the loop until it ends.
        pthread_create(
            &thread, nil,
            { context in
                if let context { Unmanaged<TestLoop>.fromOpaque(context).takeRetainedValue().run() }
                return nil
            }, Unmanaged.passRetained(self).toOpaque())
        pthread_detach(thread)
    }

    deinit {
        close(wakeUp.read)
        close(wakeUp.write)
    }

    /// Whether the caller is on the loop's thread.
    var isCurrent: Bool { state.withLock { $0.thread } == pthread_self() }

    /// Runs a job on the thread, after a delay. Does nothing once the loop has stopped. May be called from any thread.
    func post(after delay: Duration = .zero, _ run: @escaping @Sendable () -> Void) {
        state.withLock { state in
            guard !state.isStopped else { return }
            state.lastNumber += 1
            state.jobs.append(Job(due: .now + delay, number: state.lastNumber, run: run))
        }
        wake()
    }

    /// Ends the thread after the job that it runs. Later jobs are dropped.
    func stop() {
        state.withLock { state in
            state.isStopped = true
            state.jobs = []
        }
        wake()
    }

    private func wake() {
        var byte: UInt8 = 1
        _ = write(wakeUp.write, &byte, 1)
    }

    private func run() {
        state.withLock { $0.thread = pthread_self() }
        while true {
            let now = ContinuousClock.now
            let (due, wait, isStopped) = state.withLock { state in
                let due = state.jobs.filter { $0.due <= now }.sorted { ($0.due, $0.number) < ($1.due, $1.number) }
                state.jobs.removeAll { $0.due <= now }
                return (due, state.jobs.map(\.due).min().map { now.duration(to: $0) }, state.isStopped)
            }
            if isStopped { return }
            if due.isEmpty { sleep(wait) } else { for job in due { job.run() } }
        }
    }

    /// Waits for a new job, at most for `duration`.
    private func sleep(_ duration: Duration?) {
        let milliseconds = duration.map { Int32(clamping: $0.components.seconds * 1000 + $0.components.attoseconds / 1_000_000_000_000_000 + 1) }
        var descriptor = pollfd(fd: wakeUp.read, events: Int16(POLLIN), revents: 0)
        poll(&descriptor, 1, milliseconds ?? -1)
        var bytes = [UInt8](repeating: 0, count: 64)
        while read(wakeUp.read, &bytes, bytes.count) > 0 {}
    }
}
