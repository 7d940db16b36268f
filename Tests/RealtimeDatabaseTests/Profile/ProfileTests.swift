import EventLoop
import Testing

@testable import RealtimeDatabase

@Suite struct ProfileTests {
    /// A queue whose loop is this thread's: posted work runs when the test runs it.
    private struct Reader {
        let loop: EventLoop
        let queue: ProfileQueue
        let told: Notes<String>

        init(bytesMax: Int) throws {
            let loop = try EventLoop()
            let told = Notes<String>()
            self.loop = loop
            self.told = told
            queue = ProfileQueue(loop: loop, bytesMax: bytesMax) { told.add("arrived") }
        }

        /// Events of one turn of the loop are processed in the next one.
        func turn() {
            loop.runOnce()
            loop.runOnce()
        }
    }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test func aReaderIsToldOnceUntilItTakes() throws {
        let reader = try Reader(bytesMax: 100)
        for frame in ["a", "b", "c"] { reader.queue.offer(Array(frame.utf8)) }
        reader.turn()
        #expect(reader.told.all == ["arrived"])
        #expect(Self.text(reader.queue.take()) == "abc")
        #expect(reader.queue.take().isEmpty)
        reader.queue.offer(Array("d".utf8))
        reader.turn()
        #expect(reader.told.all == ["arrived", "arrived"])
    }

    @Test func whatFindsNoRoomIsCounted() throws {
        let reader = try Reader(bytesMax: 10)
        for frame in ["12345", "12345", "1", "2", "3"] { reader.queue.offer(Array(frame.utf8)) }
        let told = Self.text(reader.queue.take())
        #expect(told.hasPrefix("1234512345event: log\ndata: {\"name\":\"lost\",\"count\":3,\"timestamp\":"))
        #expect(told.hasSuffix("}\n\n"))
        // The queue has space again, and nothing is counted twice.
        reader.queue.offer(Array("12345".utf8))
        #expect(Self.text(reader.queue.take()) == "12345")
    }

    @Test func aReaderHearsAlsoThatEverythingWasLost() throws {
        let reader = try Reader(bytesMax: 0)
        reader.queue.offer([1])
        reader.turn()
        #expect(reader.told.all == ["arrived"])
        #expect(Self.text(reader.queue.take()).contains("\"count\":1"))
    }

    @Test func nothingIsMeasuredOrMadeWhileNobodyProfiles() throws {
        let profile = Profile()
        let reader = try Reader(bytesMax: 1000)
        let made = Notes<String>()
        func operation() -> Operation {
            made.add("made")
            return Operation(.concurrentConnect)
        }
        #expect(profile.stopwatch() == nil)
        profile.record(operation())
        profile.add(reader.queue)
        #expect(profile.stopwatch() != nil)
        profile.record(operation())
        profile.remove(reader.queue)
        #expect(profile.stopwatch() == nil)
        profile.record(operation())
        #expect(made.all == ["made"])
        #expect(Self.text(reader.queue.take()).hasPrefix("event: log\ndata: {\"name\":\"concurrent-connect\",\"timestamp\":"))
    }

    /// Time that a reader takes is no wait of the host.
    @Test func aPauseIsNeitherWaitNorWork() throws {
        var stopwatch = OperationTimer()
        stopwatch.begin()
        let waited = try #require(stopwatch.waited)
        stopwatch.pause()
        stopwatch.resume()
        #expect(stopwatch.waited == waited)
    }
}
