import EventLoop
import Testing

@testable import EventDelivery

/// Callers that wait until the functions are known.
@Suite struct BlockingFunctionsTests {
    @Test func theyDoNotWaitWithoutEnd() async throws {
        let thread = try LoopThread()
        let functions = BlockingFunctions(home: thread.loop, waitingMilliseconds: 50)
        for _ in 0..<2 {
            let first = Task { await functions.triggers() == nil }
            let second = Task { await functions.triggers() == nil }
            #expect(await first.value)
            #expect(await second.value)
        }
        await withCheckedContinuation { continuation in
            thread.loop.post {
                functions.stop()
                continuation.resume()
            }
        }
        #expect(await functions.triggers() == nil)
        thread.join()
    }
}
