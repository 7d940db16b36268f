/// Swift tasks that belong to a loop: their code may use what belongs to the loop, before and after each `await`.
extension EventLoop {
    /// Starts a task that never leaves this loop. It begins at the end of the current turn. Call on the loop.
    @discardableResult
    public func task(_ body: @escaping () async -> Void) -> Task<Void, Never> {
        let body = LoopBound(body, loop: self)
        return Task(executorPreference: self) { await body.value() }
    }

    /// Runs `body` as a task of this loop. Callable from any task; the caller continues where it was.
    public func perform<Answer: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () async throws(Failure) -> Answer
    ) async throws(Failure) -> Answer {
        let task = Task(executorPreference: self) { () -> Result<Answer, Failure> in
            do throws(Failure) { return .success(try await body()) } catch { return .failure(error) }
        }
        return try await task.value.get()
    }

    /// Runs `body` for all items at the same time, and returns when all have ended. Call in a task of the loop.
    ///
    /// - Returns: the answers in the order of the items.
    public func concurrently<Item, Answer>(_ items: [Item], _ body: @escaping (Item) async -> Answer) async -> [Answer] {
        var answers = [Answer?](repeating: nil, count: items.count)
        var left = items.count
        guard left > 0 else { return [] }
        await withCheckedContinuation { continuation in
            for (index, item) in items.enumerated() {
                task {
                    answers[index] = await body(item)
                    left -= 1
                    if left == 0 { continuation.resume() }
                }
            }
        }
        return answers.compactMap { $0 }
    }

    /// Waits without blocking the loop. Call in a task of the loop.
    public func sleep(milliseconds: UInt64) async {
        var timer: Timer?
        await withCheckedContinuation { continuation in
            timer = Timer(loop: self) { continuation.resume() }
            timer?.start(afterMilliseconds: milliseconds)
        }
        timer?.close()
    }
}

/// Lets the tasks of a loop act in turn, in the order in which they come. Belongs to the loop.
///
/// An act is alone, or together with others of its kind. One that comes later never overtakes one that waits.
public final class LoopTurns {
    private enum Kind {
        case alone, together
    }

    private var isAloneRunning = false
    private var togetherCount = 0
    private var waiting: [(kind: Kind, continuation: CheckedContinuation<Void, Never>)] = []

    /// Nothing runs and nothing waits.
    public init() {}

    /// Runs an act when all acts before it have ended. No other act runs meanwhile.
    public func alone<Answer, Failure: Error>(_ act: () async throws(Failure) -> Answer) async throws(Failure) -> Answer {
        try await run(.alone, act)
    }

    /// Runs an act beside others of its kind, when the acts before it that are alone have ended.
    public func together<Answer, Failure: Error>(_ act: () async throws(Failure) -> Answer) async throws(Failure) -> Answer {
        try await run(.together, act)
    }

    private func run<Answer, Failure: Error>(
        _ kind: Kind, _ act: () async throws(Failure) -> Answer
    ) async throws(Failure) -> Answer {
        // The check is inside: other tasks may run before the closure does.
        await withCheckedContinuation { continuation in
            guard waiting.isEmpty, mayBegin(kind) else { return waiting.append((kind, continuation)) }
            begin(kind)
            continuation.resume()
        }
        defer { end(kind) }
        return try await act()
    }

    private func mayBegin(_ kind: Kind) -> Bool { !isAloneRunning && (kind == .together || togetherCount == 0) }

    private func begin(_ kind: Kind) {
        switch kind {
        case .alone: isAloneRunning = true
        case .together: togetherCount += 1
        }
    }

    private func end(_ kind: Kind) {
        switch kind {
        case .alone: isAloneRunning = false
        case .together: togetherCount -= 1
        }
        while let next = waiting.first, mayBegin(next.kind) {
            waiting.removeFirst()
            begin(next.kind)
            next.continuation.resume()
        }
    }
}
