import Synchronization

/// The work that a loop runs at this moment. In shared memory it shows another process where a loop hangs.
///
/// The loop's thread writes with plain stores; any thread or process may read.
public struct LoopProgress: ~Copyable {
    /// The tag of the current work; 0 if it has none or nothing runs.
    public let tag = Atomic<UInt64>(0)
    /// Number of tagged pieces of work that were started. While this and ``depth`` do not change and ``depth`` is not 0, one piece of work
    /// has not returned.
    public let entries = Atomic<UInt64>(0)
    /// Nesting depth of the current work; 0 while the loop waits or does internal work.
    public let depth = Atomic<UInt64>(0)

    /// Progress of a loop that runs nothing.
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

/// Reports to the service manager that the loops turn, twice in each watchdog period. The report is withheld while a loop does not turn;
/// the manager then ends the process. Belongs to the home loop.
public final class Watchdog {
    private let manager: ServiceManager
    private let home: EventLoop
    private let others: [EventLoop]
    private var timer: Timer?
    /// The number of loops that have not answered yet.
    private var missing = 0

    /// Nil if the manager does not watch the service.
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
