import Glibc
import Testing

@testable import EventLoop

@Suite("Timer")
struct TimerTests {
    @Test("fires once, or again and again until it is stopped")
    func fires() throws {
        let loop = try EventLoop()
        var once = 0
        var often = 0
        let first = Timer(loop: loop) { once += 1 }
        let second = Timer(loop: loop) { often += 1 }
        first.start(afterMilliseconds: 1)
        second.start(afterMilliseconds: 1, repeatMilliseconds: 1)
        step(loop) { often >= 5 }
        #expect(once == 1)
        #expect(!first.isRunning)
        #expect(second.isRunning)
        second.stop()
        let stoppedAt = often
        first.start(afterMilliseconds: 5)
        step(loop) { once == 2 }
        #expect(often == stoppedAt)
    }

    @Test("ends with its owner, and closing twice is nothing")
    func ends() throws {
        let loop = try EventLoop()
        var fired = false
        do {
            let timer = Timer(loop: loop) { fired = true }
            timer.start(afterMilliseconds: 0)
            timer.close()
            timer.close()
            timer.start(afterMilliseconds: 0)
        }
        for _ in 0..<10 { loop.runOnce() }
        #expect(!fired)
    }
}

@Suite("Watchers")
struct WatcherTests {
    @Test("a signal becomes a call on the loop")
    func seesSignals() throws {
        let loop = try EventLoop()
        var count = 0
        let watcher = try SignalWatcher(loop: loop, signal: SIGUSR2) { count += 1 }
        // The other threads of the tests do not block it.
        pthread_kill(pthread_self(), SIGUSR2)
        step(loop) { count == 1 }
        withExtendedLifetime(watcher) {}
    }

    @Test("a signal that nobody watches any more waits")
    func keepsSignals() throws {
        let loop = try EventLoop()
        var first = 0
        var second = 0
        do {
            let watcher = try SignalWatcher(loop: loop, signal: SIGUSR1) { first += 1 }
            withExtendedLifetime(watcher) {}
        }
        pthread_kill(pthread_self(), SIGUSR1)
        let watcher = try SignalWatcher(loop: loop, signal: SIGUSR1) { second += 1 }
        step(loop) { second == 1 }
        #expect(first == 0)
        withExtendedLifetime(watcher) {}
    }

    @Test("a signal that cannot be caught is refused")
    func refusesKill() throws {
        let loop = try EventLoop()
        #expect(throws: LoopError.self) { try SignalWatcher(loop: loop, signal: SIGKILL) {} }
    }

    @Test("a change in a folder is reported with the entry's name")
    func seesFiles() throws {
        let loop = try EventLoop()
        var template = Array("/tmp/hearth-watch-XXXXXX".utf8CString)
        let folder = try #require(mkdtemp(&template).map { String(cString: $0) })
        defer { rmdir(folder) }
        var names: [String?] = []
        let watcher = try FileWatcher(loop: loop, path: folder) { names.append($0) }
        let file = "\(folder)/entry"
        close(open(file, O_CREAT | O_WRONLY, 0o600))
        defer { unlink(file) }
        step(loop) { names.contains("entry") }
        withExtendedLifetime(watcher) {}
    }

    @Test("a path that is not there is refused with its name")
    func refusesMissing() throws {
        let loop = try EventLoop()
        do {
            _ = try FileWatcher(loop: loop, path: "/no/such/folder") { _ in }
            Issue.record("it is watched")
        } catch {
            #expect(error.description == "watch /no/such/folder: no such file or directory (ENOENT)")
        }
    }
}

/// Steps the loop until `isDone`, or records that it never was.
private func step(_ loop: EventLoop, _ isDone: () -> Bool) {
    for _ in 0..<20_000 where !isDone() {
        loop.runOnce()
        usleep(500)
    }
    #expect(isDone())
}
