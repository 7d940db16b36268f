import EventLoop
import Logging
import RealtimeDatabase
import Store

/// A change of an event in the outbox after an attempt.
enum Settlement: Sendable {
    /// The function has succeeded.
    case done(EventKey)
    /// The event is tried again later.
    case postponed(EventKey, DeliveryProgress)
    /// The event is set aside until its next attempt.
    case setAside(EventKey, DeliveryProgress)
    /// The event is moved to the dead letters.
    case buried(EventKey, DeliveryProgress, DeadLetter.Reason, time: Int64)
}

/// Collects the settlements of a namespace, and writes them in few transactions. Belongs to the home loop.
///
/// If the host ends before they are durable, the events are delivered again.
final class Settlements {
    private let outbox: any OutboxAccess
    private let loop: EventLoop
    private let settings: DeliverySettings
    private let log: Logger
    private var gathered: [Settlement] = []
    /// Called once the gathered settlements are durable.
    private var completions: [() -> Void] = []
    private var flushing = 0
    /// Called with the number of old dead letters that were dropped to make room.
    private let didDrop: (Int) -> Void
    private var isFailing = false
    private var waiters: [() -> Void] = []
    /// Called when all settlements are durable.
    var didEmpty: () -> Void = {}
    /// Whether all settlements are durable.
    var isEmpty: Bool { gathered.isEmpty && flushing == 0 }
    private lazy var timer = Timer(loop: loop) { [unowned self] in flush() }

    private static let countMax = 256

    init(_ outbox: any OutboxAccess, loop: EventLoop, settings: DeliverySettings, log: Logger, didDrop: @escaping (Int) -> Void) {
        self.outbox = outbox
        self.loop = loop
        self.settings = settings
        self.log = log
        self.didDrop = didDrop
    }

    /// - Parameter completion: called once the settlement is durable.
    func add(_ settlement: Settlement, then completion: (() -> Void)? = nil) {
        gathered.append(settlement)
        if let completion { completions.append(completion) }
        guard !isFailing else { return }
        if gathered.count >= Self.countMax { return flush() }
        if gathered.count == 1 { timer.start(afterMilliseconds: settings.settleMilliseconds) }
    }

    /// Writes the collected settlements.
    func flush() {
        guard !gathered.isEmpty else { return }
        let batch = gathered
        gathered = []
        flushing += 1
        let reference = LoopBound((self, completions), loop: loop)
        completions = []
        let limits = settings.deadLetters
        outbox.withOutbox(on: loop) { outbox throws(StoreError) in
            var dropped = 0
            for settlement in batch { dropped += try outbox.settle(settlement, limits) }
            return dropped
        } completion: { result in
            let (settlements, completions) = reference.value
            settlements.didFlush(batch, completions, result)
        }
    }

    private func didFlush(_ batch: [Settlement], _ completed: [() -> Void], _ result: Result<Int, StoreError>) {
        flushing -= 1
        switch result {
        case .success(let dropped):
            if dropped > 0 { didDrop(dropped) }
            // Settlements that were added during the failure have not started the timer.
            if isFailing, !gathered.isEmpty { timer.start(afterMilliseconds: settings.settleMilliseconds) }
            isFailing = false
            for completion in completed { completion() }
        case .failure(let error):
            if !isFailing {
                log.error(
                    "delivered events cannot be recorded; trying again", metadata: ["namespace": "\(outbox.name)", "reason": "\(error)"])
            }
            isFailing = true
            gathered = batch + gathered
            completions = completed + completions
            timer.start(afterMilliseconds: settings.storeRetryMilliseconds)
            // Waiters wait for one attempt only.
            return answerWaiters()
        }
        guard isEmpty else { return }
        answerWaiters()
        didEmpty()
    }

    private func answerWaiters() {
        let waiters = waiters
        self.waiters = []
        for waiter in waiters { waiter() }
    }

    /// Calls `completion` when all settlements so far are durable, or when writing them has failed.
    func finish(completion: @escaping () -> Void) {
        guard !gathered.isEmpty || flushing > 0 else { return completion() }
        waiters.append(completion)
        flush()
    }
}

extension Outbox {
    /// - Returns: the number of dead letters that were dropped to make room.
    fileprivate func settle(_ settlement: Settlement, _ limits: DeadLetterLimits) throws(StoreError) -> Int {
        switch settlement {
        case .done(let key): try acknowledge(key)
        case .postponed(let key, let progress): try postpone(key, progress)
        case .setAside(let key, let progress): try setAside(key, progress)
        case .buried(let key, let progress, let reason, let time):
            return try bury(key, progress, reason: reason, now: time, limits: limits)
        }
        return 0
    }
}
