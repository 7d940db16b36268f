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
