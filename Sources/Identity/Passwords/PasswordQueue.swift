import CLinux
import EventLoop
import Synchronization

/// Runs derivations on threads of its own: at most one a processor, with a bounded number of jobs that wait. Thread-safe.
///
/// The threads have a lower priority than the loops, and end when nothing is left to do. They are not those of `EventLoop.offload`, because files
/// would wait behind hashes there.
public final class PasswordQueue: Sendable {
    private struct State: ~Copyable {
        var threads = 0
        /// In order of arrival; those before `next` have been taken.
        var jobs: [(@Sendable () -> Void)?] = []
        var next = 0
        var waiting: Int { jobs.count - next }
    }

    private enum Place {
        case none, queued, needsThread
    }

    private let threadsMax: Int
    private let waitingMax: Int
    private let state = Mutex(State())

    /// The "nice" value of the threads.
    private static let niceness: Int32 = 10

    /// - Parameters:
    ///   - threadsMax: the most jobs at a time; each needs the memory of a derivation (32 MiB).
    ///   - waitingMax: the most jobs that wait.
    public init(threadsMax: Int = Processors.available, waitingMax: Int = 256) {
        self.threadsMax = max(threadsMax, 1)
        self.waitingMax = waitingMax
    }

    /// Runs `work` on a thread of the queue. The caller continues where it was.
    ///
    /// - Throws: ``PasswordFailure/busy`` at once if too many jobs wait.
    public func run<Answer: Sendable>(_ work: @escaping @Sendable () -> Answer) async throws(PasswordFailure) -> Answer {
        let answer: Answer? = await withCheckedContinuation { continuation in
            if !add({ continuation.resume(returning: work()) }) { continuation.resume(returning: nil) }
        }
        guard let answer else { throw .busy }
        return answer
    }

    private func add(_ job: @escaping @Sendable () -> Void) -> Bool {
        let place = state.withLock { state in
            // A job that gets a thread does not wait.
            guard state.waiting < waitingMax || state.threads < threadsMax else { return Place.none }
            state.jobs.append(job)
            guard state.threads < threadsMax else { return .queued }
            state.threads += 1
            return .needsThread
        }
        if place == .needsThread { startThread() }
        return place != .none
    }

    private func startThread() {
        do throws(LoopError) {
            try DetachedThread.start { [self] in
                _ = linux_run_in_background(Self.niceness)
                takeAll()
            }
        } catch {
            EventLoop.offload { [self] in takeAll() }
        }
    }

    private func takeAll() {
        while let job = take() { job() }
    }

    private func take() -> (@Sendable () -> Void)? {
        state.withLock { state in
            guard state.next < state.jobs.count else {
                state.jobs.removeAll(keepingCapacity: true)
                state.next = 0
                state.threads -= 1
                return nil
            }
            let job = state.jobs[state.next]
            state.jobs[state.next] = nil
            state.next += 1
            if state.next >= 64, state.next * 2 > state.jobs.count {
                state.jobs.removeFirst(state.next)
                state.next = 0
            }
            return job
        }
    }
}
