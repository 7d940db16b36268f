import DequeModule
import EventDelivery
import EventLoop
import RealtimeDatabase

/// Lets the attempts of a queue begin, as fast as its rate allows: a token bucket that holds the tokens of a fifth of a second, at least one, as
/// the queues of Cloud Tasks do. Belongs to the home loop.
final class DispatchGate {
    /// An attempt that waits for its slot.
    struct Waiter {
        var event: OutboxEvent
        var begin: () -> Void
        /// Called instead if the attempt does not begin.
        var refuse: (AttemptResult) -> Void
    }

    /// Nanoseconds of a clock that is never set.
    private let clock: () -> UInt64
    private let loop: EventLoop
    private var interval: UInt64
    /// How far the bucket may run ahead of the rate.
    private var burst: UInt64
    /// When the next token is there if none is saved.
    private var slot: UInt64
    private var waiters = Deque<Waiter>()
    private lazy var timer = Timer(loop: loop) { [unowned self] in wake() }
    /// Whether nothing begins.
    var isPaused = false { didSet { if !isPaused { wake() } } }
    /// Called with the nanoseconds between the slot and the begin.
    var didBegin: (UInt64) -> Void = { _ in }

    /// How late the timer may be without costing tokens.
    private static let latenessMax: UInt64 = 20_000_000

    init(loop: EventLoop, perSecondMax: Double, clock: @escaping () -> UInt64 = EventLoop.monotonicNanoseconds) {
        self.loop = loop
        self.clock = clock
        (interval, burst) = Self.times(perSecondMax)
        slot = clock()
    }

    private static func times(_ perSecondMax: Double) -> (interval: UInt64, burst: UInt64) {
        let interval = UInt64(1_000_000_000 / max(perSecondMax, 0.0001))
        return (interval, interval * (UInt64(max(1, perSecondMax / 5)) - 1))
    }

    /// Changes the rate. Saved tokens stay.
    func setRate(perSecondMax: Double) {
        let times = Self.times(perSecondMax)
        guard times != (interval, burst) else { return }
        (interval, burst) = times
        slot = min(slot, clock() + interval)
        wake()
    }

    /// The number of attempts that wait.
    var waitingCount: Int { waiters.count }

    func enter(_ waiter: Waiter) {
        let now = clock()
        guard waiters.isEmpty, !isPaused, now + burst >= slot else {
            waiters.append(waiter)
            return arm(now)
        }
        slot = max(slot, now) + interval
        didBegin(0)
        waiter.begin()
    }

    private func arm(_ now: UInt64) {
        guard !waiters.isEmpty, !isPaused else { return timer.stop() }
        let due = slot > burst ? slot - burst : 0
        // A millisecond too early only leads to another look.
        timer.start(afterMilliseconds: due > now ? (due - now + 999_999) / 1_000_000 : 0)
    }

    func wake() {
        let now = clock()
        while !isPaused, now + burst >= slot, let waiter = waiters.popFirst() {
            // Slots that attempts have waited for are not lost because the loop was busy.
            let begin = max(slot, now > Self.latenessMax ? now - Self.latenessMax : 0)
            didBegin(now + burst - begin)
            slot = begin + interval
            waiter.begin()
        }
        arm(now)
    }

    /// Ends the waiting attempts of a task, or of all tasks up to a sequence, with this result.
    func end(_ id: String? = nil, through sequence: UInt64 = .max, with result: AttemptResult) {
        let isEnded = { (waiter: Waiter) in (id == nil || waiter.event.id == id) && waiter.event.sequence <= sequence }
        let ended = waiters.filter(isEnded)
        waiters.removeAll(where: isEnded)
        for waiter in ended { waiter.refuse(result) }
        arm(clock())
    }
}
