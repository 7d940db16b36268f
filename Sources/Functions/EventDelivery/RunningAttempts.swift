import EventLoop
import RealtimeDatabase

/// An event whose function runs.
package struct RunningEvent: Hashable, Sendable {
    package var namespace: String
    package var key: EventKey

    package init(namespace: String, key: EventKey) {
        self.namespace = namespace
        self.key = key
    }
}

/// The attempts that run, and their way from one process of a host to the next: a function that still works when the host is upgraded ends its
/// work in the old process, and the new one waits for the result instead of running it a second time. Belongs to the home loop.
package final class RunningAttempts {
    private typealias Completion = (AttemptResult) -> Void

    /// The state of an attempt that runs elsewhere.
    private enum Awaited {
        case running
        /// The delivery has reached the event.
        case wanted(Completion)
        /// The result arrived before the delivery reached the event.
        case ended(AttemptResult)
    }

    private let loop: EventLoop
    private var running: Set<RunningEvent> = []
    private var awaited: [RunningEvent: Awaited] = [:]
    /// Whether results are for the process that comes next.
    private var isHandedOver = false
    /// Increased when the delivery starts again. Attempts of earlier starts report to the receiver.
    private var start = 0
    /// Results that have no receiver yet.
    private var late: [(RunningEvent, AttemptResult)] = []
    private var receiver: ((RunningEvent, AttemptResult) -> Void)?

    init(loop: EventLoop) { self.loop = loop }

    /// Starts an attempt, unless it already runs elsewhere: then waits for it.
    ///
    /// - Parameter completion: called once on the loop, never before this function returns; not at all once the attempt was handed over.
    func begin(_ event: RunningEvent, attempt: (@escaping (AttemptResult) -> Void) -> Void, completion: @escaping (AttemptResult) -> Void) {
        running.insert(event)
        let end: Completion = { [self, start] result in
            if start == self.start { running.remove(event) }
            if isHandedOver || start != self.start { pass(event, result) } else { completion(result) }
        }
        switch awaited[event] {
        case nil: attempt(end)
        case .running?, .wanted?: awaited[event] = .wanted(end)
        case .ended(let result)?:
            awaited[event] = nil
            loop.endOfTurn { end(result) }
        }
    }

    /// Whether attempts run in the process before this one.
    package var awaitsOthers: Bool {
        awaited.values.contains { if case .ended = $0 { false } else { true } }
    }

    // MARK: The old process

    /// Ends the responsibility of this process for the attempts that run, and returns them. From now on, their results go to the receiver.
    package func handOver() -> [RunningEvent] {
        if !isHandedOver { receiver = nil }
        isHandedOver = true
        return running.sorted { ($0.namespace, $0.key.sequence) < ($1.namespace, $1.key.sequence) }
    }

    /// Sets the receiver of the results, and gives it those that have arrived.
    package func send(to receiver: @escaping (RunningEvent, AttemptResult) -> Void) {
        self.receiver = receiver
        let results = late
        late = []
        for (event, result) in results { receiver(event, result) }
    }

    private func pass(_ event: RunningEvent, _ result: AttemptResult) {
        if let receiver { receiver(event, result) } else { late.append((event, result)) }
    }

    /// Awaits the attempts of this process itself, because no other one has taken over and the delivery starts again.
    func takeBack() {
        adopt(handOver())
        for (event, result) in late { awaited[event] = .ended(result) }
        late = []
        running = []
        isHandedOver = false
        start += 1
        receiver = { [unowned self] event, result in finish(event, result) }
    }

    // MARK: The new process

    /// Notes attempts that run elsewhere, before the delivery reaches their events.
    package func adopt(_ events: [RunningEvent]) {
        for event in events where awaited[event] == nil { awaited[event] = .running }
    }

    /// Processes the result of an attempt that ran elsewhere.
    package func finish(_ event: RunningEvent, _ result: AttemptResult) {
        switch awaited[event] {
        case nil, .ended?: break
        case .running?: awaited[event] = .ended(result)
        case .wanted(let completion)?:
            awaited[event] = nil
            loop.endOfTurn { completion(result) }
        }
    }

    /// Ends the wait for all attempts that run elsewhere, because that process has ended.
    package func abandon() {
        for event in awaited.keys { finish(event, .interrupted("the host that ran the function has ended")) }
    }
}
