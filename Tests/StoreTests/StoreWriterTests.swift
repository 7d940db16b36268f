import EventLoop
import Logging
import Synchronization
import Testing

@testable import Store

@Suite("Group commit")
struct StoreWriterTests {
    @Test("the work of a turn is one transaction, and nothing is told before it is durable")
    func commitsTurns() throws {
        let run = try WriterRun()
        run.turn { writer in
            for number in 1...3 { writer.put(number) }
            #expect(run.store.committed == [] && run.answers == [])
        }
        #expect(run.store.committed == [1, 2, 3] && run.store.commits == 1)
        #expect(run.answers == ["1", "2", "3"])
        run.turn { $0.put(4) }
        #expect(run.store.commits == 2)
    }

    @Test("a turn that changes nothing is not committed, and is answered")
    func skipsEmptyTurns() throws {
        let run = try WriterRun()
        run.turn { writer in
            writer.inTransaction({ _ in }) { _ in writer.batch.answer(on: run.loop) { [noted = run.noted] _ in noted.add("read") } }
        }
        #expect(run.answers == ["read"] && run.store.commits == 0 && !run.store.isInTransaction)
    }

    @Test("a failure refuses everybody in the turn, with its reason", arguments: [FakeStore.Step.put, .commit])
    func refusesTurns(_ step: FakeStore.Step) throws {
        let run = try WriterRun()
        run.turn { $0.put(1) }
        run.store.failing = [step: .full]
        run.turn { writer in
            for number in 2...3 { writer.put(number) }
        }
        #expect(run.store.committed == [1])
        #expect(Set(run.answers.dropFirst()) == ["2 full", "3 full"])
        // The content that remembers the failed turn is gone, and a checkpoint has looked for room.
        #expect(run.writer.content?.seen == [1] && run.store.occasions.contains(.full))
        run.store.failing = [:]
        run.turn { $0.put(4) }
        #expect(run.store.committed == [1, 4])
    }

    @Test("the log says once that writes fail, and once that they work again")
    func logsOnce() throws {
        let run = try WriterRun()
        run.store.failing = [.commit: .full]
        for number in 1...5 { run.turn { $0.put(number) } }
        run.store.failing = [:]
        for number in 6...7 { run.turn { $0.put(number) } }
        #expect(run.log.lines == ["write failed", "works again failures=5"])
    }

    @Test("a store that cannot be opened is tried again when it is needed, but not at once")
    func opensAgain() throws {
        let run = try WriterRun(failing: [.open: .io])
        for number in 1...3 { run.turn { $0.put(number) } }
        #expect(run.answers == ["1 io", "2 io", "3 io"] && run.writer.openings == 1 && run.writer.losses == 1)
        run.store.failing = [:]
        run.writer.retryMilliseconds = 0
        run.turn { $0.put(4) }
        #expect(run.store.committed == [4] && run.writer.openings == 2)
    }

    @Test("content that cannot be made anew closes the store")
    func losesContent() throws {
        let run = try WriterRun()
        run.turn { $0.put(1) }
        run.store.failing = [.commit: .full, .open: .corrupt]
        run.turn { $0.put(2) }
        #expect(run.writer.content == nil && run.writer.closings == 1 && run.writer.losses == 1)
        #expect(run.writer.failure.kind == .corrupt)
    }

    @Test("a suspended store commits what has arrived, is closed, and refuses until it is resumed")
    func suspends() throws {
        let run = try WriterRun()
        run.turn { writer in
            writer.put(1)
            writer.suspend()
            writer.put(2)
        }
        #expect(run.store.committed == [1] && run.answers == ["2 suspended", "1"] && run.writer.closings == 1)
        run.turn { $0.startAgain() }
        #expect(run.writer.content == nil)
        run.turn { writer in
            writer.resume()
            writer.put(3)
        }
        #expect(run.store.committed == [1, 3])
    }

    @Test("a stopped store stays closed")
    func stops() throws {
        let run = try WriterRun()
        run.turn { writer in
            writer.put(1)
            writer.stop()
            writer.resume()
            writer.put(2)
        }
        #expect(run.store.committed == [1] && run.answers == ["2 stopped", "1"])
    }

    @Test("a log that snapshots hold back is emptied once they have made way")
    func emptiesLog() throws {
        let run = try WriterRun()
        run.store.report.isHeldBack = true
        run.store.report.logBytes = 1000
        run.store.emptyings = [false, false, true]
        run.turn { writer in
            writer.logEmptying.bytesMax = 1000
            writer.logEmptying.makeWay = { bytes in
                run.noted.add("make way \(bytes)")
                writer.emptyLogSoon()
            }
            writer.logEmptying.isOver = { run.noted.add("over") }
            writer.put(1)
        }
        while !run.answers.contains("over") { run.loop.runOnce() }
        #expect(run.answers.filter { $0 != "1" } == ["make way 1000", "over"] && run.store.emptyings.isEmpty)
        #expect(run.log.lines == ["a long read keeps the write-ahead log from being truncated bytes=1000"])
    }

    @Test("while the disk is too full for a checkpoint, writes are refused; each failure is logged once")
    func waitsForCheckpoints() throws {
        let run = try WriterRun()
        run.store.failing = [.checkpoint: .full]
        run.turn { $0.put(1) }
        run.store.failing = [:]
        run.store.report.isPaused = true
        run.turn { $0.put(2) }
        run.store.failing = [.checkpoint: .full]
        run.turn { $0.put(3) }
        #expect(run.store.committed == [1])
        #expect(run.log.lines == ["a checkpoint failed", "write failed"])
        run.store.failing = [:]
        run.store.report.isPaused = false
        run.turn { $0.put(4) }
        #expect(run.store.committed == [1, 4])
        #expect(
            run.log.lines == ["a checkpoint failed", "write failed", "checkpoints work again failures=3", "works again failures=2"])
    }
}
