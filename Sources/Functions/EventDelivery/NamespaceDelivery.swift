import DequeModule
import EventLoop
import FunctionDispatch
import HTTP
import Logging
import Logs
import RealtimeDatabase
import Store
import Tree

/// Delivers the events of one namespace, with a queue for each function that has events. Belongs to the home loop.
final class NamespaceDelivery {
    let loop: EventLoop
    let settings: DeliverySettings
    let namespace: String
    unowned let delivery: TriggerDelivery
    private(set) lazy var settlements = Settlements(outbox, loop: loop, settings: settings, log: log) { [weak self] in self?.didDrop($0) }
    private let outbox: any OutboxAccess
    private var queues: [String: FunctionQueue] = [:]
    /// The sequence number of the newest announced event.
    private var last: UInt64 = 0
    /// When dead letters were last dropped, in milliseconds of the loop's clock.
    private var lastDrop: UInt64?
    private var random = SystemRandomNumberGenerator()
    private var timers: [ObjectIdentifier: Timer] = [:]

    init(_ outbox: any OutboxAccess, delivery: TriggerDelivery) {
        self.outbox = outbox
        self.delivery = delivery
        loop = delivery.loop
        settings = delivery.settings
        namespace = outbox.name
        settlements.didEmpty = { [weak self] in self?.leaveIfIdle() }
    }

    private var log: Logger { delivery.log }

    // MARK: New events

    func receive(_ announcement: EventAnnouncement) {
        var carried: [String: [OutboxEvent]] = [:]
        for event in announcement.events { carried[event.function, default: []].append(event) }
        for (function, newest) in announcement.newest {
            let queue = queues[function] ?? FunctionQueue(function: function, readThrough: last, owner: self)
            queues[function] = queue
            queue.announce(carried[function] ?? [], newest: newest)
        }
        last = max(last, announcement.last)
    }

    /// Continues all queues, because functions were deployed.
    func functionsDidChange() {
        for queue in queues.values { queue.run() }
    }

    func queueDidEmpty(_ queue: FunctionQueue) {
        guard queues[queue.function] === queue else { return }
        queues[queue.function] = nil
        // Deferred, because the caller is a function of the queue.
        loop.endOfTurn { [self] in
            queue.stop()
            leaveIfIdle()
        }
    }

    /// Whether no state is left, so that this object can be released.
    var isIdle: Bool { queues.isEmpty && settlements.isEmpty && lastDrop == nil }

    private func leaveIfIdle() {
        if isIdle { delivery.forget(self) }
    }

    /// The number of running attempts.
    var runningCount: Int { queues.values.reduce(0) { $0 + $1.running } }

    func stop() {
        for queue in queues.values { queue.stop() }
        timers = [:]
    }

    /// Forgets events of a function that are no longer in the outbox. Their attempts that run may end.
    ///
    /// - Parameters:
    ///   - path: that of the events; nil for all events.
    ///   - sequence: that of the last one. Later events stay.
    func withdraw(_ function: String, at path: Path?, through sequence: UInt64) {
        queues[function]?.withdraw(at: path, through: sequence)
        queues[function]?.run()
    }

    // MARK: Reading

    func readPage(of function: String, after sequence: UInt64, count: Int, bytes: Int, completion: @escaping (Outbox.Page) -> Void) {
        let complain = { [self] (page: Outbox.Page) in
            for sequence in page.damaged {
                log.error(
                    "an event cannot be read; it stays in the outbox",
                    metadata: ["function": "\(function)", "namespace": "\(namespace)", "sequence": "\(sequence)"])
            }
            completion(page)
        }
        read(complain) { outbox throws(StoreError) in
            try outbox.page(of: function, after: sequence, limit: max(1, count), bytesMax: bytes)
        }
    }

    func readEvents(of function: String, _ sequences: [UInt64], completion: @escaping (Outbox.Fetched) -> Void) {
        // Settlements so far must be in the outbox before it is read.
        settlements.flush()
        let bytes = settings.loadedBytesMax / 4
        read(completion) { outbox throws(StoreError) in try outbox.events(of: function, sequences, bytesMax: bytes) }
    }

    /// Reads from the outbox. Repeats this while the store fails.
    private func read<Answer: Sendable>(
        _ completion: @escaping (Answer) -> Void, _ body: @escaping @Sendable (Outbox) throws(StoreError) -> Answer
    ) {
        guard !delivery.isStopped else { return }
        let reference = LoopBound((self, completion), loop: loop)
        outbox.withOutbox(on: loop, body) { result in
            let (delivery, completion) = reference.value
            switch result {
            case .success(let answer): completion(answer)
            case .failure(let error):
                delivery.log.error(
                    "events cannot be read; trying again", metadata: ["namespace": "\(delivery.namespace)", "reason": "\(error)"])
                delivery.later { delivery.read(completion, body) }
            }
        }
    }

    private func later(_ work: @escaping () -> Void) {
        guard !delivery.isStopped else { return }
        var id: ObjectIdentifier?
        let timer = Timer(loop: loop) { [unowned self] in
            if let id { timers[id] = nil }
            work()
        }
        id = ObjectIdentifier(timer)
        timers[ObjectIdentifier(timer)] = timer
        timer.start(afterMilliseconds: settings.storeRetryMilliseconds)
    }

    // MARK: Attempts

    /// Starts attempts for the events of a queue, as far as allowed.
    func startReady(_ queue: FunctionQueue) {
        switch delivery.target(queue.function) {
        case .unknown: return
        case .missing: giveUpAll(queue)
        case .found(let target):
            let most = min(target.attemptsMax, settings.loadedCountMax)
            while queue.running < most, queue.restingUntil <= loop.nowMilliseconds, let lane = queue.ready.popFirst() {
                start(lane, queue, target)
            }
        }
    }

    private func start(_ lane: EventLane, _ queue: FunctionQueue, _ target: any EventTarget) {
        guard let event = lane.loaded.first else { return queue.goOn(lane) }
        let now = WallClock.now().unixMilliseconds
        let wait = event.progress.notBefore - now
        // A wait longer than the longest one means that the clock was set back.
        guard wait <= 0 || wait > target.retryMilliseconds ?? settings.retries.mostMilliseconds else {
            return queue.wait(lane, milliseconds: UInt64(wait))
        }
        guard event.chain.depth <= settings.chainDepthMax else { return giveUp(lane, queue, .chainTooLong, event.progress, target) }
        lane.state = .running
        queue.running += 1
        let running = RunningEvent(namespace: namespace, key: event.key)
        delivery.attempts.begin(running, attempt: { target.attempt(event, completion: $0) }) { [self] result in
            queue.running -= 1
            finish(lane, queue, event, target, result)
            queue.run()
        }
    }

    private func finish(
        _ lane: EventLane, _ queue: FunctionQueue, _ event: OutboxEvent, _ target: any EventTarget, _ result: AttemptResult
    ) {
        delivery.figures.add(result)
        switch result {
        case .succeeded:
            settlements.add(.done(event.key), then: target.afterSettling(event, error: nil))
            queue.removeNext(lane)
        case .stopped:
            lane.state = .ready
            queue.ready.prepend(lane)
            queue.rest(milliseconds: settings.storeRetryMilliseconds)
        case .refused(let milliseconds):
            lane.state = .ready
            queue.ready.prepend(lane)
            queue.rest(milliseconds: max(milliseconds, settings.overloadMilliseconds))
        case .failed(let error):
            var progress = event.progress
            progress.attempts += 1
            progress.lastError = error
            switch target.retry(of: event, after: &progress, now: WallClock.now().unixMilliseconds) {
            case .after(let milliseconds): postpone(lane, queue, event, progress, milliseconds)
            case .later(let milliseconds): setAside(lane, queue, event, progress, milliseconds)
            case .giveUp(let reason): giveUp(lane, queue, reason, progress, target)
            case .standard:
                guard target.isRetried else { return giveUp(lane, queue, .failed, progress, target) }
                tryLater(lane, queue, progress, settings.retries.delay(afterAttempt: progress.attempts, using: &random), target)
            }
        case .interrupted(let error):
            var progress = event.progress
            progress.interruptions += 1
            progress.lastError = error
            // The worker may have ended because of another event, so this one is tried again soon.
            let delay = settings.retries.delay(afterAttempt: progress.interruptions, using: &random) / 10
            if !target.isRetried, progress.interruptions >= settings.interruptionsMax {
                return giveUp(lane, queue, .interrupted, progress, target)
            }
            tryLater(lane, queue, progress, delay, target)
        }
    }

    private func tryLater(
        _ lane: EventLane, _ queue: FunctionQueue, _ progress: DeliveryProgress, _ delay: Int64, _ target: any EventTarget
    ) {
        guard let event = lane.loaded.first else { return queue.goOn(lane) }
        let next = WallClock.now().unixMilliseconds + delay
        if target.isRetried, next - progress.since > settings.retries.ageMilliseconds(generation: target.generation) {
            return giveUp(lane, queue, .expired, progress, target)
        }
        postpone(lane, queue, event, progress, delay)
    }

    private func postpone(_ lane: EventLane, _ queue: FunctionQueue, _ event: OutboxEvent, _ progress: DeliveryProgress, _ delay: Int64) {
        settlements.add(.postponed(event.key, noteRetry(event, progress, delay)))
        queue.wait(lane, milliseconds: UInt64(max(1, delay)))
    }

    private func setAside(_ lane: EventLane, _ queue: FunctionQueue, _ event: OutboxEvent, _ progress: DeliveryProgress, _ delay: Int64) {
        settlements.add(.setAside(event.key, noteRetry(event, progress, delay)))
        queue.removeNext(lane)
    }

    private func noteRetry(_ event: OutboxEvent, _ progress: DeliveryProgress, _ delay: Int64) -> DeliveryProgress {
        var progress = progress
        progress.notBefore = WallClock.now().unixMilliseconds + delay
        log.warning("the function failed; the event will be delivered again", metadata: metadata(event, progress, delay: delay))
        delivery.figures.retries += 1
        return progress
    }

    /// Moves the events in memory to the dead letters, because their function does not exist.
    private func giveUpAll(_ queue: FunctionQueue) {
        var count = 0
        while let lane = queue.ready.popFirst() {
            if let event = lane.loaded.first {
                bury(event, event.progress, .functionMissing)
                count += 1
            }
            queue.removeNext(lane)
        }
        guard count > 0 else { return }
        log.error(
            "events of a function that does not exist were moved to the dead letters",
            metadata: ["function": "\(queue.function)", "namespace": "\(namespace)", "count": "\(count)"])
    }

    private func bury(
        _ event: OutboxEvent, _ progress: DeliveryProgress, _ reason: DeadLetter.Reason, then completion: (() -> Void)? = nil
    ) {
        delivery.figures.add(reason)
        settlements.add(.buried(event.key, progress, reason, time: WallClock.now().unixMilliseconds), then: completion)
    }

    /// Counts dropped dead letters. Logs only the first drop for some time, because a function may fail for every write.
    private func didDrop(_ count: Int) {
        delivery.figures.droppedDeadLetters += count
        let now = loop.nowMilliseconds
        defer { lastDrop = now }
        if let lastDrop, now - lastDrop < settings.dropReportMilliseconds { return }
        log.warning(
            "the dead letters are full; the oldest are dropped",
            metadata: [
                "namespace": "\(namespace)", "kept": "\(settings.deadLetters.countMax)", "keptBytes": "\(settings.deadLetters.bytesMax)",
            ])
    }

    /// Moves the lane's next event to the dead letters.
    private func giveUp(
        _ lane: EventLane, _ queue: FunctionQueue, _ reason: DeadLetter.Reason, _ progress: DeliveryProgress, _ target: any EventTarget
    ) {
        guard let event = lane.loaded.first else { return queue.goOn(lane) }
        var metadata = metadata(event, progress, delay: nil)
        metadata["reason"] = "\(reason.text)"
        if reason == .chainTooLong {
            metadata["chain"] = "\(event.chainOfEffects)"
            log.error(
                "the chain of events is longer than database.triggers.chainDepth; its last event was moved to the dead letters",
                metadata: metadata)
        } else {
            log.error("the event was moved to the dead letters", metadata: metadata)
        }
        bury(event, progress, reason, then: target.afterSettling(event, error: progress.lastError ?? reason.text))
        queue.removeNext(lane)
    }

    private func metadata(_ event: OutboxEvent, _ progress: DeliveryProgress, delay: Int64?) -> Logger.Metadata {
        var metadata: Logger.Metadata = [
            "function": "\(event.function)", "event": "\(event.id)", "namespace": "\(namespace)", "path": "\(event.path)",
            "attempts": "\(progress.attempts + progress.interruptions)",
        ]
        if let trace = event.trace { metadata["trace"] = "\(trace.id)" }
        if let error = progress.lastError { metadata["error"] = "\(error)" }
        if let delay { metadata["againInSeconds"] = "\(Double(delay) / 1000)" }
        return metadata
    }
}
