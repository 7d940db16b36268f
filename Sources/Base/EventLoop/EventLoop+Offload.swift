extension EventLoop {
    /// Makes the threads that ``offload(_:)`` uses, and those for Swift's tasks. Once this has succeeded, nothing waits for want of one.
    ///
    /// - Throws: `LoopError` when none can be made.
    public static func startThreadPools() throws(LoopError) {
        try SharedThreads.blocking.start()
        try SharedThreads.tasks.takeSwiftTasks()
    }

    /// Runs `work` on a thread of the pool for work that blocks, and nothing afterwards. Can be called from anywhere.
    public static func offload(_ work: @escaping @Sendable () -> Void) { SharedThreads.blocking.run(work) }

    /// Runs `work` on a thread of its own pool, for what would block the loop: files, password hashes, keys.
    ///
    /// Called from anywhere; the caller goes on where it was once `work` has returned or thrown.
    public func offload<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T {
        let result: Result<T, any Error> = await withCheckedContinuation { continuation in
            SharedThreads.blocking.run { continuation.resume(returning: Result { try work() }) }
        }
        return try result.get()
    }

    /// Runs `work` on a thread of its own pool, then `completion` on this loop. To be called on the loop.
    public func offload<Answer: Sendable>(_ work: @escaping @Sendable () -> Answer, then completion: @escaping (Answer) -> Void) {
        let reference = LoopBound(completion, loop: self)
        SharedThreads.blocking.run { [self] in
            let answer = work()
            post { reference.value(answer) }
        }
    }
}
