import EventLoop
import Glibc
import Synchronization

/// The result of an attempt to send.
enum NoticeAttempt: Sendable, Equatable {
    case sent
    /// Another attempt may succeed.
    case failed(String)
    /// No attempt can succeed.
    case refused(String)
}

/// Sends notices on threads of its own, which end when nothing is left. Thread-safe.
///
/// The pool for files is not used, because a slow server would hold its threads.
final class NoticeQueue: Sendable {
    /// Limits of a queue.
    struct Limits: Sendable {
        var threadsMax = 2
        var waitingMax = 1000
        var attempts = 5
        /// The pause after the first attempt; each further one is four times as long.
        var pauseMilliseconds: Int64 = 2000
        var pauseMillisecondsMax: Int64 = 300_000
    }

    private struct Job: Sendable {
        let notice: Notice
        let didEnd: @Sendable (Bool) -> Void
        var attempts = 0
        var due: Int64
    }

    private struct State: ~Copyable {
        var threads = 0
        var waiting: [Job] = []
        var isClosed = false
    }

    private enum Turn {
        case send(Job)
        case wait(milliseconds: Int64)
        case end
    }

    private let limits: Limits
    private let send: @Sendable (Notice) -> NoticeAttempt
    private let report: @Sendable (_ notice: Notice, _ attempts: Int, _ reason: String, _ isFinal: Bool) -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - send: one attempt, which may block.
    ///   - report: gets every failed attempt.
    init(
        limits: Limits, send: @escaping @Sendable (Notice) -> NoticeAttempt,
        report: @escaping @Sendable (_ notice: Notice, _ attempts: Int, _ reason: String, _ isFinal: Bool) -> Void
    ) {
        self.limits = limits
        self.send = send
        self.report = report
    }

    /// The number of notices that wait, or wait again.
    var waiting: Int { state.withLock { $0.waiting.count } }

    /// Adds a notice. Returns false if too many wait.
    ///
    /// - Parameter didEnd: called on any thread after the last attempt, with whether another one is of no use; not called for those that wait when
    ///   the queue is closed.
    func add(_ notice: Notice, didEnd: @escaping @Sendable (Bool) -> Void = { _ in }) -> Bool {
        let (isAdded, needsThread) = state.withLock { state in
            guard !state.isClosed, state.waiting.count < limits.waitingMax else { return (false, false) }
            state.waiting.append(Job(notice: notice, didEnd: didEnd, due: Self.now))
            guard state.threads < limits.threadsMax else { return (true, false) }
            state.threads += 1
            return (true, true)
        }
        if needsThread { startThread() }
        return isAdded
    }

    /// Forgets all that wait. Returns their number.
    func close() -> Int {
        state.withLock { state in
            state.isClosed = true
            defer { state.waiting = [] }
            return state.waiting.count
        }
    }

    private func startThread() {
        do throws(LoopError) {
            try DetachedThread.start { [self] in runAll() }
        } catch {
            // A later notice tries again; this one is sent then.
            state.withLock { $0.threads -= 1 }
        }
    }

    private func runAll() {
        while true {
            switch turn() {
            case .end: return
            case .wait(let milliseconds): usleep(UInt32(min(milliseconds, 100)) * 1000)
            case .send(let job): attempt(job)
            }
        }
    }

    private func turn() -> Turn {
        let now = Self.now
        return state.withLock { state in
            if let index = state.waiting.firstIndex(where: { $0.due <= now }) { return .send(state.waiting.remove(at: index)) }
            // One thread is enough to wait for the next attempt.
            guard let next = state.waiting.map(\.due).min(), state.threads == 1 else {
                state.threads -= 1
                return .end
            }
            return .wait(milliseconds: next - now)
        }
    }

    private func attempt(_ job: Job) {
        var job = job
        job.attempts += 1
        let result = send(job.notice)
        switch result {
        case .sent: job.didEnd(true)
        case .refused(let reason):
            report(job.notice, job.attempts, reason, true)
            job.didEnd(true)
        case .failed(let reason):
            let isLast = job.attempts >= limits.attempts
            let isKept = !isLast && state.withLock { state in
                guard !state.isClosed else { return false }
                job.due = Self.now + pause(after: job.attempts)
                state.waiting.append(job)
                return true
            }
            report(job.notice, job.attempts, reason, !isKept)
            if isLast { job.didEnd(false) }
        }
    }

    private func pause(after attempts: Int) -> Int64 {
        var pause = limits.pauseMilliseconds
        for _ in 1..<max(attempts, 2) where attempts > 1 { pause = min(pause * 4, limits.pauseMillisecondsMax) }
        return pause
    }

    /// Milliseconds of a clock that never goes back.
    private static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}
