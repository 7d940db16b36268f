import EventLoop
import Synchronization

/// A loop on a separate thread. After the thread has ended, callers run the loop themselves, so that they still get answers.
final class NamespaceThread: Sendable {
    let loop: EventLoop
    private let thread: LoopThread
    private let hasEnded = Atomic(false)
    private let turn = Mutex(())

    init() throws(LoopError) {
        thread = try LoopThread()
        loop = thread.loop
    }

    /// Runs `work` on the loop, soon. Can be called from any thread.
    func post(_ work: @escaping @Sendable () -> Void) {
        guard !hasEnded.load(ordering: .sequentiallyConsistent) else { return runTurn(work) }
        loop.post(work)
        // The thread may have ended without running the work.
        if hasEnded.load(ordering: .sequentiallyConsistent) { runTurn {} }
    }

    /// Ends the thread. Not to be called on it.
    func end() {
        thread.join()
        hasEnded.store(true, ordering: .sequentiallyConsistent)
        runTurn {}
    }

    private func runTurn(_ work: @escaping @Sendable () -> Void) {
        turn.withLock { _ in
            loop.post(work)
            // The second turn runs what the first one has queued.
            loop.runOnce()
            loop.runOnce()
        }
    }
}
