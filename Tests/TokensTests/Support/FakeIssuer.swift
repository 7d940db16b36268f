import Synchronization

@testable import Tokens

/// An issuer's key server: counts how often it is asked, and answers what the test says, when the test says.
final class FakeIssuer: KeyFetching {
    private struct State {
        var answer: Result<FetchedKeys, KeyFetchError>
        var calls = 0
        var isHeld = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>
    /// Tells of each question as it comes.
    let asked: AsyncStream<Void>
    private let ask: AsyncStream<Void>.Continuation

    init(_ document: String, maxAge: Int? = nil) {
        state = Mutex(State(answer: .success(FetchedKeys(bytes: Array(document.utf8), maxAgeSeconds: maxAge))))
        (asked, ask) = AsyncStream.makeStream()
    }

    var calls: Int { state.withLock { $0.calls } }

    func answer(_ document: String, maxAge: Int? = nil) {
        state.withLock { $0.answer = .success(FetchedKeys(bytes: Array(document.utf8), maxAgeSeconds: maxAge)) }
    }

    func fail() { state.withLock { $0.answer = .failure(KeyFetchError("no route")) } }

    /// Lets every question wait for ``release()``.
    func hold() { state.withLock { $0.isHeld = true } }

    func release() {
        let waiting = state.withLock { state in
            state.isHeld = false
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    func fetch(_ url: String) async throws(KeyFetchError) -> FetchedKeys {
        await withCheckedContinuation { continuation in
            let mustWait = state.withLock { state in
                state.calls += 1
                if state.isHeld { state.waiting.append(continuation) }
                return state.isHeld
            }
            ask.yield()
            if !mustWait { continuation.resume() }
        }
        return try state.withLock { $0.answer }.get()
    }
}

/// Gathers what a key set reports, for a test to wait for.
struct Reports: Sendable {
    let stream: AsyncStream<KeySet.Report>
    let report: @Sendable (KeySet.Report) -> Void

    init() {
        let (stream, continuation) = AsyncStream.makeStream(of: KeySet.Report.self)
        self.stream = stream
        report = { continuation.yield($0) }
    }

    /// The next report.
    func next() async -> KeySet.Report? {
        for await report in stream { return report }
        return nil
    }
}
