import FunctionWorker
import HearthBytes
import Testing
import WorkerProtocol

@testable import FunctionDispatch

@Suite("Signs of life of a worker")
struct LoopWatchTests {
    private func sight(_ entries: UInt64, _ frames: UInt64, isInPlugin: Bool) -> WorkerPage.Sight {
        WorkerPage.Sight(entries: entries, framesReceived: frames, isInPlugin: isInPlugin, invocation: InvocationID(rawValue: 0))
    }

    private func looks(_ sights: [WorkerPage.Sight], framesSent: UInt64 = 3, every milliseconds: UInt64 = 100) -> UInt64 {
        var watch = LoopWatch()
        var now: UInt64 = 1000
        for sight in sights {
            _ = watch.look(sight, framesSent: framesSent, now: now)
            now += milliseconds
        }
        return watch.stillMilliseconds
    }

    @Test("the same piece of code for several looks is no sign of life")
    func countsStillness() {
        #expect(looks([sight(5, 3, isInPlugin: true)]) == 0)
        #expect(looks(Array(repeating: sight(5, 3, isInPlugin: true), count: 4)) == 300)
    }

    @Test("a worker that waits for something is alive")
    func waitingIsLife() { #expect(looks(Array(repeating: sight(5, 3, isInPlugin: false), count: 9)) == 0) }

    @Test("a worker that does not receive what it was sent is not")
    func unreadIsNone() { #expect(looks(Array(repeating: sight(5, 2, isInPlugin: false), count: 4)) == 300) }

    @Test("another piece of code, or another frame, is a sign of life")
    func progressIsLife() {
        let still = Array(repeating: sight(5, 2, isInPlugin: true), count: 4)
        #expect(looks(still + [sight(6, 2, isInPlugin: true)]) == 0)
        #expect(looks(still + [sight(5, 3, isInPlugin: true)]) == 0)
        #expect(looks(still + [sight(5, 2, isInPlugin: false)]) == 0)
    }

    @Test("time in which the host did not look counts for little")
    func hostStoodStill() {
        #expect(looks(Array(repeating: sight(5, 3, isInPlugin: true), count: 2), every: 3_600_000) == 2 * LoopWatch.lookMilliseconds)
    }
}

@Suite("Calls that a worker has not received")
struct UnreadCallsTests {
    /// Sends calls whose context is one byte and whose payload is the rest.
    private func sent(_ calls: [[UInt8]], received: UInt64) -> UnreadCalls {
        var unread = UnreadCalls()
        for (index, call) in calls.enumerated() {
            var outbox = ByteBuffer()
            outbox.append([0xFF, 0xFF])
            outbox.append(call)
            unread.append(
                InvocationID(slot: index, generation: 1), frame: UInt64(index + 1), contextSize: 1, from: outbox, at: 2
            ) { received }
        }
        return unread
    }

    private func taken(_ unread: consuming UnreadCalls, after frames: UInt64) -> [[UInt8]] {
        var found: [[UInt8]] = []
        unread.takeAll(after: frames) { id, contextSize, bytes in
            #expect(contextSize == 1)
            found.append([UInt8(id.slot)] + bytes.array())
        }
        return found
    }

    @Test("those behind the last frame that was received come back, in order")
    func comeBack() {
        let calls: [[UInt8]] = [[1, 2], [3], [4, 5, 6]]
        #expect(taken(sent(calls, received: 0), after: 0) == [[0, 1, 2], [1, 3], [2, 4, 5, 6]])
        #expect(taken(sent(calls, received: 0), after: 1) == [[1, 3], [2, 4, 5, 6]])
        #expect(taken(sent(calls, received: 0), after: 3) == [])
    }

    @Test("a call that is too large stays where it is")
    func largeStay() {
        let large = [UInt8](repeating: 7, count: UnreadCalls.callBytesMax + 1)
        #expect(taken(sent([[1], large, [2]], received: 0), after: 0) == [[0, 1], [2, 2]])
    }

    @Test("what is kept is bounded, and what was received makes room")
    func isBounded() {
        let call = [UInt8](repeating: 7, count: UnreadCalls.callBytesMax)
        let all = Array(repeating: call, count: 40)
        #expect(taken(sent(all, received: 0), after: 0).count == 16)
        #expect(taken(sent(all, received: 39), after: 39).count == 1)
    }
}
