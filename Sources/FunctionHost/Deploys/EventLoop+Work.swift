import EventLoop

extension EventLoop {
    /// Runs `work` on the thread pool, then `completion` on this loop. To be called on the loop.
    func offload<Answer: Sendable>(
        _ work: @escaping @Sendable () -> Answer, then completion: @escaping (Answer) -> Void
    ) {
        let reference = LoopBound(completion, loop: self)
        Task {
            // What is offloaded throws nothing.
            guard let answer = try? await self.offload(work) else { return }
            self.post { reference.value(answer) }
        }
    }
}

/// Calls once when several things have happened. Belongs to one loop.
final class Countdown {
    private var left: Int
    private let completion: () -> Void

    init(_ count: Int, completion: @escaping () -> Void) {
        left = count
        self.completion = completion
        if count == 0 { completion() }
    }

    func hit() {
        left -= 1
        if left == 0 { completion() }
    }
}
