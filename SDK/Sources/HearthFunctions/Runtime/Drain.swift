internal import Synchronization

/// Suspends a function while its client reads slowly.
// `isUsed` changes only under the lock, and is read without it only while there is no other reference to the invocation.
final class Drain: @unchecked Sendable {
    private struct State {
        /// The number of times the client has caught up.
        var reads = 0
        /// The client is gone or the call has ended.
        var isOver = false
        var waiting: [UnsafeContinuation<Bool, Never>] = []
    }
    private let state = Mutex(State())
    private var isUsed = false

    /// Sends a chunk with `send` and, when the client is slow, waits until it has caught up. False when the client is gone.
    func offer(_ send: () -> Flow) async -> Bool {
        let before = state.withLock { state in
            isUsed = true
            return state.reads
        }
        switch send() {
        case .gone: return false
        case .taken: return true
        case .pressure: break
        }
        return await withUnsafeContinuation { continuation in
            let verdict: Bool? = state.withLock { state in
                if state.isOver { return false }
                // The client may have caught up between the chunk and here, when this is not the loop's thread.
                if state.reads != before { return true }
                state.waiting.append(continuation)
                return nil
            }
            if let verdict { continuation.resume(returning: verdict) }
        }
    }

    func clientHasRead() {
        let waiting = state.withLock { state in
            state.reads += 1
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume(returning: true) }
    }

    func end() {
        let waiting = state.withLock { state in
            isUsed = true
            state.isOver = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume(returning: false) }
    }

    func reset() {
        guard isUsed else { return }
        isUsed = false
        state.withLock { $0 = State() }
    }
}
