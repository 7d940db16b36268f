import Synchronization

/// The piece of work that a loop runs now. In shared memory, another process sees where a loop hangs.
///
/// The loop's thread writes with plain stores; any thread or process may read.
public struct LoopProgress: ~Copyable {
    /// The tag of the work that runs now; 0 where it has none, or nothing runs.
    public let tag = Atomic<UInt64>(0)
    /// How often tagged work was begun. While this and ``depth`` stay the same and ``depth`` is not 0, one piece of work has not returned.
    public let entries = Atomic<UInt64>(0)
    /// How many pieces of work run within each other; 0 while the loop waits or does work of its own.
    public let depth = Atomic<UInt64>(0)

    /// Nothing runs.
    public init() {}

    @inline(__always)
    func enter(_ tag: UInt64) {
        entries.store(entries.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
        self.tag.store(tag, ordering: .relaxed)
        depth.store(depth.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    }

    @inline(__always)
    func leave(to outer: UInt64) {
        tag.store(outer, ordering: .relaxed)
        depth.store(depth.load(ordering: .relaxed) &- 1, ordering: .relaxed)
    }
}

/// Tells the service manager that the loops turn, twice in each of its periods. One that does not turn is not spoken for, and the
/// manager will end the process. Belongs to the home loop.
public final class Watchdog {
    private let manager: ServiceManager
    private let home: EventLoop
    private let others: [EventLoop]
    private var timer: Timer?
    /// The loops that have not answered yet.
    private var missing = 0

    /// Nil where the manager does not watch.
    ///
    /// - Parameter others: the loops besides the home loop.
    public init?(_ manager: ServiceManager, home: EventLoop, others: [EventLoop]) {
        guard let period = manager.watchdogMicroseconds else { return nil }
        self.manager = manager
        self.home = home
        self.others = others
        let timer = Timer(loop: home) { [unowned self] in tick() }
        let milliseconds = max(period / 2000, 1)
        timer.start(afterMilliseconds: 0, repeatMilliseconds: milliseconds)
        self.timer = timer
    }

    private func tick() {
        guard missing == 0 else { return }
        manager.notify("WATCHDOG=1")
        missing = others.count
        let reference = LoopBound(self, loop: home)
        for loop in others {
            loop.post { [home] in home.post { reference.value.missing -= 1 } }
        }
    }
}
