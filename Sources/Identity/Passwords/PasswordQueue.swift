import CLinux
import EventLoop
import Synchronization

/// Runs derivations on threads of its own: at most one a processor, with a bounded number of jobs that wait. Thread-safe.
///
/// Clients take turns, and none may have more than a part of the jobs that wait: a client that sends many keeps nobody else waiting for long.
///
/// The threads have a lower priority than the loops, and end when nothing is left to do. They are not those of `EventLoop.offload`, because files
/// would wait behind hashes there.
public final class PasswordQueue: Sendable {
    private struct State: ~Copyable {
        var threads = 0
        /// The jobs of each client that has any, in order of arrival.
        var jobs: [String: [@Sendable () -> Void]] = [:]
        /// These clients, the next one first.
        var turns: [String] = []
        /// All jobs that wait.
        var waiting = 0

        mutating func add(_ job: @escaping @Sendable () -> Void, of client: String) {
            if jobs[client] == nil { turns.append(client) }
            jobs[client, default: []].append(job)
            waiting += 1
        }

        mutating func take() -> (@Sendable () -> Void)? {
            guard !turns.isEmpty else { return nil }
            let client = turns.removeFirst()
            guard let job = jobs[client]?.removeFirst() else { return nil }
            waiting -= 1
            if jobs[client]?.isEmpty == true { jobs[client] = nil } else { turns.append(client) }
            return job
        }
    }

    private enum Place {
        case none, queued, needsThread
    }

    private let threadsMax: Int
    private let waitingMax: Int
    private let waitingPerClientMax: Int
    private let state = Mutex(State())

    /// The "nice" value of the threads.
    private static let niceness: Int32 = 10

    /// - Parameters:
    ///   - threadsMax: the most jobs at a time; each needs the memory of a derivation (32 MiB).
    ///   - waitingMax: the most jobs that wait.
    ///   - waitingPerClientMax: the most of one client.
    public init(threadsMax: Int = Processors.available, waitingMax: Int = 256, waitingPerClientMax: Int = 64) {
        self.threadsMax = max(threadsMax, 1)
        self.waitingMax = waitingMax
        self.waitingPerClientMax = waitingPerClientMax
    }

    /// Runs `work` on a thread of the queue. The caller continues where it was.
    ///
    /// - Parameter client: for whom; such as an address.
    /// - Throws: ``PasswordFailure/busy`` at once if too many jobs wait.
    public func run<Answer: Sendable>(for client: String = "", _ work: @escaping @Sendable () -> Answer) async throws(PasswordFailure) -> Answer {
        let answer: Answer? = await withCheckedContinuation { continuation in
            if !add({ continuation.resume(returning: work()) }, of: client) { continuation.resume(returning: nil) }
        }
        guard let answer else { throw .busy }
        return answer
    }

    private func add(_ job: @escaping @Sendable () -> Void, of client: String) -> Bool {
        let place = state.withLock { state in
            // A job that gets a thread does not wait.
            let hasRoom = state.waiting < waitingMax && (state.jobs[client]?.count ?? 0) < waitingPerClientMax
            guard hasRoom || state.threads < threadsMax else { return Place.none }
            state.add(job, of: client)
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
            if let job = state.take() { return job }
            state.threads -= 1
            return nil
        }
    }
}
