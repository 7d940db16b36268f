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
