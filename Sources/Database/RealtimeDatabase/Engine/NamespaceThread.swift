import EventLoop
import Synchronization

/// A loop on a thread of its own that answers also after the thread has ended: then whoever asks runs the turn.
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
        // The thread may have ended without having seen it.
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
            // What the first turn collects, the second one does.
            loop.runOnce()
            loop.runOnce()
        }
    }
}
