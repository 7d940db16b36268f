import EventLoop
import Foundation
import Glibc
import Store
import Testing
import Tree

@testable import RealtimeDatabase

/// Reads of single values on the loop that asks.
@Suite struct PointReaderTests {
    private static let leaf = ReadRequest(Path(["a"]), principal: .admin)

    @Test(arguments: EngineUnderTest.allCases)
    func aConnectionIsOpenedAfterSomeReads(_ engine: EngineUnderTest) async throws {
        try await engine.run { run, _ in
            try await run.put("/a", "1")
            for _ in 0..<63 { #expect(try await run.readAtOnce(Self.leaf) == nil) }
            try await run.untilPointsAreRead()
            #expect(try await run.readAtOnce(Self.leaf)?.json == "1")
            #expect(try run.namespace().open.readers.pointFigures.count(.value, .answered) >= 1)
        }
    }

    /// A commit that another loop has answered is seen, even in the turn of the loop that has a snapshot already.
    @Test(arguments: EngineUnderTest.allCases)
    func aTurnSeesWhatWasCommittedMeanwhile(_ engine: EngineUnderTest) async throws {
        try await engine.run { run, _ in
            try await run.put("/a", "1")
            try await run.untilPointsAreRead()
            let namespace = try run.namespace()
            let other = try LoopThread()
            defer { other.join() }
            let change = try WriteRequest.put("/a", "2")
            let seen: [String?] = await run.answer { loop, done in
                let first = namespace.readAtOnce(Self.leaf, on: loop)?.json
                let gate = Gate()
                other.loop.post { namespace.write(change, on: other.loop) { _ in gate.open() } }
                gate.pass()
                done([first, namespace.readAtOnce(Self.leaf, on: loop)?.json])
            }
            #expect(seen == ["1", "2"])
        }
    }

    @Test(arguments: EngineUnderTest.allCases)
    func theRulesInForceDecide(_ engine: EngineUnderTest) async throws {
        try await engine.run { run, _ in
            try await run.use(#"{"rules":{"a":{".read":"auth != null"}}}"#)
            try await run.put("/a", "1")
            try await run.untilPointsAreRead()
            let stranger = ReadRequest(Path(["a"]), principal: .user(auth: nil))
            #expect(try await run.readAtOnce(stranger)?.error?.kind == .permissionDenied)
            for round in 0..<20 {
                try await run.use(round % 2 == 0 ? #"{"rules":{".read":true}}"# : #"{"rules":{".read":false}}"#)
                let outcome = try #require(try await run.readAtOnce(stranger))
                #expect(round % 2 == 0 ? outcome.json == "1" : outcome.error?.kind == .permissionDenied)
            }
        }
    }

    @Test(arguments: EngineUnderTest.allCases)
    func whatTakesLongerIsLeftToTheReaders(_ engine: EngineUnderTest) async throws {
        try await engine.run { run, _ in
            try await run.put("/", #"{"a":1,"b":{"c":2},"long":"\#(String(repeating: "x", count: 70_000))"}"#)
            try await run.untilPointsAreRead()
            var tagged = Self.leaf
            tagged.wantsETag = true
            var exported = Self.leaf
            exported.form = .export
            let others = [
                tagged, exported, ReadRequest(Path(["b"]), principal: .admin), ReadRequest(Path(["nothing"]), principal: .admin),
                ReadRequest(Path(["long"]), principal: .admin), ReadRequest(Path(["a"]), .priority, principal: .admin),
            ]
            for request in others { #expect(try await run.readAtOnce(request) == nil) }
            #expect(try await run.readAtOnce(ReadRequest(Path(["b", "c"]), principal: .admin))?.json == "2")
        }
    }

    @Test(arguments: EngineUnderTest.allCases)
    func aFailureIsLeftToTheReaders(_ engine: EngineUnderTest) async throws {
        try await engine.run { run, storage in
            try await run.put("/a", "1")
            try await run.untilPointsAreRead()
            storage.fail(.snapshot, with: .io)
            #expect(try await run.readAtOnce(Self.leaf) == nil)
            #expect(try await run.read(Self.leaf).error != nil)
            storage.mend()
            try await run.untilPointsAreRead()
        }
    }

    /// The files are closed for another process, and at the end.
    @Test func filesAreClosed() async throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let run = try EngineRun(SQLiteStorage(directory: folder))
        try await run.put("/a", "1")
        try await run.untilPointsAreRead()
        #expect(Self.openFiles(folder) > 0)
        let database = run.database
        await run.answer { loop, done in database.suspend(on: loop) { done(()) } }
        #expect(Self.openFiles(folder) == 0)
        #expect(try await run.readAtOnce(Self.leaf) == nil)
        database.resume()
        try await run.untilPointsAreRead()
        database.stop()
        #expect(Self.openFiles(folder) == 0)
    }

    private static func openFiles(_ folder: String) -> Int {
        // Tests beside this one may have opened thousands.
        ((try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []).filter { descriptor in
            var target = [CChar](repeating: 0, count: 4096)
            let count = readlink("/proc/self/fd/\(descriptor)", &target, target.count)
            return count > 0 && String(decoding: target[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self).hasPrefix("\(folder)/test.")
        }.count
    }

    @Test func slowReadsPauseThem() {
        let pause = ReadPause()
        var usage = ThreadUsage.current
        usage.diskReads -= 1
        // Fast, although something was read from a disk.
        pause.note(from: 0, to: 50_000, since: usage)
        #expect(pause.isOver(at: 50_000))
        pause.note(from: 0, to: 200_000, since: usage)
        #expect(!pause.isOver(at: 20_199_999))
        #expect(pause.isOver(at: 20_200_000))
        usage = .current
        usage.switches -= 1
        // Long, but the thread may not have run.
        pause.note(from: 20_200_000, to: 90_000_000, since: usage)
        #expect(pause.isOver(at: 90_000_000))
        // The thread may be preempted between the two lines.
        repeat { pause.note(from: 90_000_000, to: 91_000_000, since: .current) } while pause.isOver(at: 91_000_000)
        #expect(!pause.isOver(at: 190_999_999))
        #expect(pause.isOver(at: 191_000_000))
        pause.begin(at: 200_000_000, after: 10_000_000)
        // A shorter one does not end a longer one.
        pause.begin(at: 200_000_000, after: 1_000_000)
        #expect(!pause.isOver(at: 1_199_999_999))
    }

    @Test func aPauseLeavesReadsToTheReaders() async throws {
        try await EngineUnderTest.sqlite.run { run, _ in
            try await run.put("/a", "1")
            try await run.untilPointsAreRead()
            let readers = try run.namespace().open.readers
            readers.pause.begin(at: EventLoop.monotonicNanoseconds(), after: 1_000_000_000)
            let namespace = try run.namespace()
            #expect(await run.answer { loop, done in done(namespace.readAtOnce(Self.leaf, on: loop)) } == nil)
            #expect(try await run.read(Self.leaf).json == "1")
        }
    }
}

extension EngineRun {
    /// Tries again if nothing was read because of a pause, which a slow machine can cause.
    fileprivate func readAtOnce(_ request: ReadRequest) async throws -> ReadOutcome? {
        let namespace = try namespace()
        let pause = namespace.open.readers.pause
        while true {
            let isPaused = !pause.isOver(at: EventLoop.monotonicNanoseconds())
            let outcome = await answer { loop, done in done(namespace.readAtOnce(request, on: loop)) }
            if outcome != nil || !isPaused { return outcome }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    /// Reads until the loop has a connection.
    fileprivate func untilPointsAreRead() async throws {
        for _ in 0..<5000 {
            if try await readAtOnce(ReadRequest(Path(["a"]), principal: .admin)) != nil { return }
            try await Task.sleep(for: .milliseconds(1))
        }
        Issue.record("the loop gets no connection")
    }
}
