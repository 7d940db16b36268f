import Glibc
import Synchronization
import Testing

@testable import EventLoop

@Suite("Descriptors and threads")
struct ScarcityTests {
    @Test(
        "a third of the descriptors is kept from connections, within reason",
        arguments: [(256, 85), (1024, 341), (100, 64), (32, 32), (65_536, 4096)])
    func keeps(limit: Int, kept: Int) { #expect(DescriptorLimit.kept(of: limit) == kept) }

    @Test("work beside the loops is done in its order, and its answer comes on the loop")
    func offloads() async throws {
        try EventLoop.startThreadPools()
        let thread = try LoopThread()
        defer { thread.join() }
        let loop = thread.loop
        let sum = Mutex(0)
        await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
            loop.post {
                for number in 1...2000 {
                    loop.offload { number } then: { answer in
                        loop.preconditionCurrent()
                        let isLast = sum.withLock { sum in
                            sum += answer
                            return sum == 2000 * 2001 / 2
                        }
                        if isLast { done.resume() }
                    }
                }
            }
        }
        await #expect(throws: LoopError.self) { try await loop.offload { throw LoopError(code: -EIO, operation: "test") } }
        // Tasks without an executor run on threads of the pool.
        let values = await withTaskGroup(of: Int.self) { group in
            for number in 0..<100 { group.addTask { number } }
            return await group.reduce(0, +)
        }
        #expect(values == 4950)
    }
}
