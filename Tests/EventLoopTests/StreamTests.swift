import HearthBytes
import Glibc
import Testing

@testable import EventLoop

/// Streams are driven by hand here: a loop that the test steps, a plain socket at the other end.
@Suite("Stream")
struct StreamTests {
    @Test("what is written in one turn leaves with one system call")
    func gathersWrites() throws {
        let pair = try Pair()
        for _ in 0..<100 { pair.stream.write("0123456789") }
        #expect(pair.received(atMost: 4096).isEmpty, "nothing leaves before the turn's end")
        pair.loop.runOnce()
        // One datagram a system call: the other end is a packet socket.
        #expect(pair.received(atMost: 4096).count == 1000)
    }

    @Test("what the peer does not take waits, in order, and the writer is told when it may go on")
    func holdsBack() throws {
        let pair = try Pair(kind: SOCK_STREAM)
        pair.stream.highWatermark = 1 << 20
        var sent: [UInt8] = []
        while sent.count < 8 << 20 {
            let piece = (0..<65_536).map { UInt8(truncatingIfNeeded: $0 &+ sent.count >> 16) }
            sent += piece
            pair.stream.write(piece)
            pair.loop.runOnce()
        }
        #expect(pair.stream.isCongested)
        #expect(!pair.handler.events.contains("drain"))
        var received: [UInt8] = []
        while received.count < sent.count {
            received += pair.received(atMost: 1 << 20)
            pair.loop.runOnce()
        }
        #expect(received == sent)
        #expect(pair.handler.events == ["drain"])
        #expect(pair.stream.pendingBytes == 0)
    }

    @Test("a paused reader leaves bytes with the peer")
    func pauses() throws {
        let pair = try Pair(kind: SOCK_STREAM)
        pair.stream.startReading()
        pair.send("first")
        pair.step { pair.handler.text == "first" }
        pair.stream.pauseReading()
        pair.send("second")
        for _ in 0..<20 { pair.loop.runOnce() }
        #expect(pair.handler.text == "first")
        pair.stream.resumeReading()
        pair.step { pair.handler.text == "firstsecond" }
    }

    @Test("the peer's end is reported, and writing goes on after it")
    func reportsEnd() throws {
        let pair = try Pair(kind: SOCK_STREAM)
        pair.stream.startReading()
        shutdown(pair.peer, Int32(SHUT_WR))
        pair.step { pair.handler.events == ["end"] }
        pair.stream.write("still here")
        pair.loop.runOnce()
        #expect(pair.received(atMost: 64) == Array("still here".utf8))
    }

    @Test("finishing sends what is queued before the peer sees the end")
    func finishes() throws {
        let pair = try Pair(kind: SOCK_STREAM)
        pair.stream.write("last words")
        pair.stream.finish()
        pair.loop.runOnce()
        pair.loop.runOnce()
        #expect(pair.received(atMost: 64) == Array("last words".utf8))
        var byte: UInt8 = 0
        #expect(recv(pair.peer, &byte, 1, Int32(MSG_DONTWAIT)) == 0, "then the end")
    }

    @Test("closing is reported once, whoever closes, and releases the handler")
    func closesOnce() throws {
        let pair = try Pair(kind: SOCK_STREAM)
        pair.stream.close()
        pair.stream.close()
        pair.stream.write("into the void")
        pair.loop.runOnce()
        #expect(pair.handler.events == ["close"])
        #expect(pair.stream.handler == nil)
    }

    @Test("a peer that is gone is an error with libuv's name, and the stream closes")
    func reportsFailure() throws {
        let pair = try Pair(kind: SOCK_STREAM)
        Glibc.close(pair.peer)
        pair.peer = -1
        pair.stream.write("hello")
        pair.loop.runOnce()
        #expect(pair.handler.events == ["fail EPIPE", "close"])
    }
}

@Suite("ChildProcess")
struct ChildProcessTests {
    private let noProgram = ChildProcess.Command(
        arguments: ["/no/such/program"], environment: [], directory: nil, descriptors: [.null, .socket])

    @Test("how a process ended is told, and its sockets carry bytes both ways")
    func runs() throws {
        let loop = try EventLoop()
        let process = try ChildProcess(
            loop: loop,
            ChildProcess.Command(
                arguments: ["/bin/sh", "-c", "read line; echo \"got $line in $PLACE\"; exit 7"], environment: ["PLACE=here"],
                directory: "/", descriptors: [.socket, .socket, .null]))
        let handler = Recorder()
        for stream in process.sockets {
            stream.handler = handler
            stream.startReading()
        }
        process.sockets[0].write("word\n")
        var deadline = 5000
        while process.ending == nil || !handler.text.hasSuffix("\n"), deadline > 0 {
            loop.runOnce()
            usleep(1000)
            deadline -= 1
        }
        #expect(process.ending == ChildProcess.Ending(status: 7, signal: 0))
        #expect(handler.text == "got word in here\n")
        for stream in process.sockets { stream.close() }
    }

    @Test("a process that another thread starts is this loop's")
    func startsElsewhere() throws {
        let loop = try EventLoop()
        var result: Result<ChildProcess, LoopError>?
        ChildProcess.start(
            loop: loop,
            ChildProcess.Command(
                arguments: ["/bin/sh", "-c", "read line; echo \"got $line\"; exit 3"], environment: [], directory: "/",
                descriptors: [.socket, .socket, .null])
        ) { result = $0 }
        #expect(result == nil)
        let handler = Recorder()
        var process: ChildProcess?
        var deadline = 5000
        while process?.ending == nil || !handler.text.hasSuffix("\n"), deadline > 0 {
            loop.runOnce()
            usleep(1000)
            deadline -= 1
            guard process == nil, let started = try result?.get() else { continue }
            process = started
            for stream in started.sockets {
                stream.handler = handler
                stream.startReading()
            }
            started.sockets[0].write("word\n")
        }
        #expect(process?.ending == ChildProcess.Ending(status: 3, signal: 0))
        #expect(handler.text == "got word\n")
        for stream in process?.sockets ?? [] { stream.close() }
    }

    @Test("a program that another thread cannot start is an error that names it")
    func reportsMissingElsewhere() throws {
        let loop = try EventLoop()
        var result: Result<ChildProcess, LoopError>?
        ChildProcess.start(loop: loop, noProgram) { result = $0 }
        var deadline = 5000
        while result == nil, deadline > 0 {
            loop.runOnce()
            usleep(1000)
            deadline -= 1
        }
        do {
            _ = try result?.get()
            Issue.record("it was started, or never answered")
        } catch {
            #expect(error.description == "spawn /no/such/program: no such file or directory (ENOENT)")
        }
    }

    @Test("a program that is not there is an error that names it")
    func reportsMissing() throws {
        let loop = try EventLoop()
        do {
            _ = try ChildProcess(loop: loop, noProgram)
            Issue.record("it was started")
        } catch {
            #expect(error.description == "spawn /no/such/program: no such file or directory (ENOENT)")
        }
    }
}

/// A stream on a loop, and the bare socket at its other end.
private final class Pair {
    let loop: EventLoop
    let stream: Stream
    let handler = Recorder()
    var peer: Int32

    init(kind: __socket_type = SOCK_SEQPACKET) throws {
        loop = try EventLoop()
        var descriptors: [Int32] = [0, 0]
        #expect(socketpair(AF_UNIX, Int32(kind.rawValue), 0, &descriptors) == 0)
        stream = try Stream.adopting(descriptor: descriptors[0], loop: loop)
        peer = descriptors[1]
        signal(SIGPIPE, SIG_IGN)
        stream.handler = handler
    }

    deinit {
        stream.close()
        loop.runOnce()
        if peer >= 0 { Glibc.close(peer) }
    }

    /// The result of one receive; empty if there is none.
    func received(atMost size: Int) -> [UInt8] {
        var room = [UInt8](repeating: 0, count: size)
        let count = recv(peer, &room, size, Int32(MSG_DONTWAIT))
        return Array(room.prefix(max(0, count)))
    }

    func send(_ text: String) { #expect(Glibc.send(peer, text, text.utf8.count, 0) == text.utf8.count) }

    /// Steps the loop until `isDone`, or records that it never was.
    func step(_ isDone: () -> Bool) {
        for _ in 0..<1000 where !isDone() { loop.runOnce() }
        #expect(isDone())
    }
}

private final class Recorder: StreamHandler {
    var events: [String] = []
    private var bytes: [UInt8] = []
    var text: String { String(decoding: bytes, as: UTF8.self) }

    func stream(_ stream: Stream, didRead bytes: Span<UInt8>) { self.bytes += bytes.array() }
    func streamDidEnd(_ stream: Stream) { events.append("end") }
    func streamDidDrain(_ stream: Stream) { events.append("drain") }
    func stream(_ stream: Stream, didFail error: LoopError) { events.append("fail \(error.name)") }
    func streamDidClose(_ stream: Stream) { events.append("close") }
}
