import EventLoop
import Logging
import Store

/// The store of apps, on a thread of its own. Can be used from every loop and task.
final class AppCheckStorage: Sendable {
    private let thread: LoopThread
    private let writer: LoopBound<AppCheckWriter>

    init(path: String, isSuspended: Bool, clock: @escaping @Sendable () -> Int64, log: Logger) throws(LoopError) {
        let thread = try LoopThread()
        self.thread = thread
        let writer = LoopBound(AppCheckWriter(loop: thread.loop, path: path, clock: clock, log: log), loop: thread.loop)
        self.writer = writer
        thread.loop.post { if isSuspended { writer.value.close() } else { writer.value.start() } }
    }

    /// Runs an operation. Returns when its changes are durable; a refusal changes nothing.
    func perform<Answer: Sendable>(
        _ operation: @escaping @Sendable (AppCheckStore) throws(AppCheckFailure) -> Answer
    ) async throws(AppCheckError) -> Answer {
        let result: Result<Answer, AppCheckError> = await withCheckedContinuation { continuation in
            thread.loop.post { [writer] in writer.value.perform(operation) { continuation.resume(returning: $0) } }
        }
        return try result.get()
    }

    func suspend(completion: @escaping @Sendable () -> Void) {
        thread.loop.post { [writer] in
            writer.value.close()
            completion()
        }
    }

    func resume() {
        thread.loop.post { [writer] in
            writer.value.resume()
            writer.value.start()
        }
    }

    func stop() {
        thread.loop.post { [writer] in writer.value.end() }
        thread.join()
    }
}
