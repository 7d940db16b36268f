import Glibc
import HearthBytes
import Testing

@testable import EventLoop

/// Many clients that want something at once do not hold up the others of the loop: each piece of work takes a millisecond here.
@Suite("Shared turns")
struct SharedTurnTests {
    @Test("a stream is read before most of those that give way, which are all read, in order", arguments: [Stream.Yielding.asNewcomer, .always])
    func givesWay(yielding: Stream.Yielding) throws {
        let crowd = try Crowd(200)
        for client in crowd.clients { client.stream.yielding = yielding }
        let other = try crowd.add()
        for client in crowd.clients { client.send("a") }
        crowd.step { crowd.reads.contains(other.number) }
        #expect(crowd.reads.count < 100)
        crowd.step { crowd.reads.count == 201 }
        let own = crowd.reads.filter { $0 != other.number }
        #expect(own.sorted() == Array(0..<200), "each of them once")
        // They wait in the order of arrival. The kernel reports sockets in the order in which they became readable.
        #expect(own == own.sorted())
    }

    @Test("newcomers come before most others that wait")
    func prefersNewcomers() throws {
        let crowd = try Crowd(200)
        for client in crowd.clients { client.stream.yielding = client.number < 150 ? .always : .asNewcomer }
        for client in crowd.clients { client.send("a") }
        crowd.step { crowd.reads.count == 200 }
        let lastNewcomer = try #require(crowd.reads.lastIndex { $0 >= 150 })
        #expect(lastNewcomer < 150)
        #expect(Set(crowd.reads).count == 200)
    }

    @Test("a waiting stream can be paused, resumed and closed")
    func changesWhileWaiting() throws {
        let crowd = try Crowd(100)
        for client in crowd.clients {
            client.stream.yielding = .always
            client.send("a")
        }
        crowd.loop.runOnce()
        let (paused, resumed, closed) = (crowd.clients[97], crowd.clients[98], crowd.clients[99])
        #expect(!crowd.reads.contains(97))
        paused.stream.pauseReading()
        resumed.stream.pauseReading()
        resumed.stream.resumeReading()
        closed.stream.close()
        crowd.step { crowd.reads.count == 98 }
        for _ in 0..<20 { crowd.loop.runOnce() }
        #expect(crowd.reads.count == 98 && crowd.reads.contains(98))
        paused.stream.resumeReading()
        crowd.step { crowd.reads.contains(97) }
        #expect(!crowd.reads.contains(99))
    }

    @Test("a stream that has waited reads everything, and its end")
    func readsTheEnd() throws {
        let crowd = try Crowd(50)
        for client in crowd.clients {
            client.stream.yielding = .always
            client.send("a")
        }
        crowd.loop.runOnce()
        let last = crowd.clients[49]
        last.send("b")
        shutdown(last.peer, Int32(SHUT_WR))
        crowd.step { last.hasEnded }
        #expect(last.text == "ab")
    }

    @Test("queued work of a loop that shares its turns lets streams be read, and keeps its order")
    func sharesWork() throws {
        let crowd = try Crowd(1)
        let loop = crowd.loop
        loop.sharesTurns = true
        let done = LoopBound(Numbers(), loop: loop)
        loop.runOnce()
        for number in 0..<100 {
            loop.post {
                spin()
                done.value.list.append(number)
            }
        }
        crowd.clients[0].send("a")
        crowd.step { !crowd.reads.isEmpty }
        #expect(done.value.list.count < 50)
        crowd.step { done.value.list.count == 100 }
        #expect(done.value.list == Array(0..<100))
    }
}

private final class Numbers {
    var list: [Int] = []
}

/// Keeps the processor busy for a millisecond.
private func spin() {
    let end = EventLoop.monotonicNanoseconds() + 1_000_000
    while EventLoop.monotonicNanoseconds() < end {}
}

/// A loop with many streams, whose reads take a millisecond each.
private final class Crowd {
    let loop: EventLoop
    private(set) var clients: [Client] = []
    /// The numbers of the streams that were read, in order.
    var reads: [Int] = []

    init(_ count: Int) throws {
        loop = try EventLoop()
        for _ in 0..<count { _ = try add() }
    }

    deinit {
        for client in clients {
            client.stream.close()
            close(client.peer)
        }
        loop.runOnce()
    }

    func add() throws -> Client {
        var descriptors: [Int32] = [0, 0]
        #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &descriptors) == 0)
        let stream = try Stream.adopting(descriptor: descriptors[0], loop: loop)
        let client = Client(clients.count, stream, peer: descriptors[1], self)
        stream.handler = client
        stream.startReading()
        clients.append(client)
        return client
    }

    func step(_ isDone: () -> Bool) {
        for _ in 0..<2000 where !isDone() { loop.runOnce() }
        #expect(isDone())
    }
}

private final class Client: StreamHandler {
    let number: Int
    let stream: Stream
    let peer: Int32
    private unowned let crowd: Crowd
    private(set) var text = ""
    private(set) var hasEnded = false

    init(_ number: Int, _ stream: Stream, peer: Int32, _ crowd: Crowd) {
        self.number = number
        self.stream = stream
        self.peer = peer
        self.crowd = crowd
    }

    func send(_ text: String) { #expect(Glibc.send(peer, text, text.utf8.count, 0) == text.utf8.count) }

    func stream(_ stream: Stream, didRead bytes: Span<UInt8>) {
        spin()
        text += String(decoding: bytes.array(), as: UTF8.self)
        crowd.reads.append(number)
    }

    func streamDidEnd(_ stream: Stream) { hasEnded = true }
    func streamDidDrain(_ stream: Stream) {}
    func stream(_ stream: Stream, didFail error: LoopError) {}
    func streamDidClose(_ stream: Stream) {}
}
