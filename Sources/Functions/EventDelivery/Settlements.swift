import EventLoop
import Logging
import RealtimeDatabase

/// What became of an event.
enum Settlement: Sendable {
    /// The function has done its work.
    case done(EventKey)
    /// It is tried again.
    case postponed(EventKey, DeliveryProgress)
    /// It was given up.
    case buried(EventKey, DeliveryProgress, DeadLetter.Reason, time: Int64)
}

/// Gathers what became of a namespace's events, and makes it durable in few transactions. Belongs to the home loop.
///
/// What is lost with the host is delivered once more.
final class Settlements {
    private let outbox: any OutboxAccess
    private let loop: EventLoop
    private let settings: DeliverySettings
    private let log: Logger
    private var gathered: [Settlement] = []
    private var flushing = 0
    /// Called with how many old dead letters made room for new ones.
    private let didDrop: (Int) -> Void
    private var isFailing = false
    private var waiters: [() -> Void] = []
    /// Called when all that was known is durable.
    var didEmpty: () -> Void = {}
    /// Whether nothing waits to become durable.
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

    func add(_ settlement: Settlement) {
        gathered.append(settlement)
        guard !isFailing else { return }
        if gathered.count >= Self.countMax { return flush() }
        if gathered.count == 1 { timer.start(afterMilliseconds: settings.settleMilliseconds) }
    }

    /// Sends off what there is.
    func flush() {
        guard !gathered.isEmpty else { return }
        let batch = gathered
        gathered = []
        flushing += 1
        let reference = LoopBound(self, loop: loop)
        let limits = settings.deadLetters
        outbox.withOutbox(on: loop) { outbox throws(StoreError) in
            var dropped = 0
            for settlement in batch { dropped += try outbox.settle(settlement, limits) }
            return dropped
        } completion: { result in
            reference.value.didFlush(batch, result)
        }
    }

    private func didFlush(_ batch: [Settlement], _ result: Result<Int, StoreError>) {
        flushing -= 1
        switch result {
        case .success(let dropped):
            if dropped > 0 { didDrop(dropped) }
            // What came while it failed has no timer yet.
            if isFailing, !gathered.isEmpty { timer.start(afterMilliseconds: settings.settleMilliseconds) }
            isFailing = false
        case .failure(let error):
            if !isFailing {
                log.error(
                    "delivered events cannot be recorded; trying again", metadata: ["namespace": "\(outbox.name)", "reason": "\(error)"])
            }
            isFailing = true
            gathered = batch + gathered
            timer.start(afterMilliseconds: settings.storeRetryMilliseconds)
            // Who waits for it waits for one try only.
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

    /// Calls `completion` once everything so far is durable, or cannot be made so now.
    func finish(completion: @escaping () -> Void) {
        guard !gathered.isEmpty || flushing > 0 else { return completion() }
        waiters.append(completion)
        flush()
    }
}

extension Outbox {
    /// - Returns: how many dead letters made room.
    fileprivate func settle(_ settlement: Settlement, _ limits: DeadLetterLimits) throws(StoreError) -> Int {
        switch settlement {
        case .done(let key): try acknowledge(key)
        case .postponed(let key, let progress): try postpone(key, progress)
        case .buried(let key, let progress, let reason, let time):
            return try bury(key, progress, reason: reason, now: time, limits: limits)
        }
        return 0
    }
}
