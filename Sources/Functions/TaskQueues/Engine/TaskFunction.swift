import Configuration
import EventDelivery
import EventLoop
import FunctionDispatch
import RealtimeDatabase

/// A function that gets the tasks of a queue.
protocol TaskTarget: EventTarget {
    var trigger: TaskQueueTrigger { get }
    /// The region, which is the location of the queue.
    var region: String { get }
}

/// A deployed function with a task queue.
final class TaskFunction: TaskTarget {
    private let registered: RegisteredFunction
    let trigger: TaskQueueTrigger
    private let project: String
    private let gate: DispatchGate
    private var dice = TrafficDice()

    /// The time for an attempt, if the task names none.
    private static let limitMilliseconds: UInt64 = 600_000

    init(_ registered: RegisteredFunction, _ trigger: TaskQueueTrigger, project: String, gate: DispatchGate) {
        self.registered = registered
        self.trigger = trigger
        self.project = project
        self.gate = gate
    }

    var region: String { registered.region }
    // Retries are those of the queue.
    var isRetried: Bool { false }
    var generation: Int { registered.generation }
    var attemptsMax: Int { max(1, min(trigger.concurrentMax, registered.options.concurrency * registered.options.maxInstances)) }

    func attempt(_ event: OutboxEvent, completion: @escaping (AttemptResult) -> Void) {
        let function = dice.choose(registered)
        let loop = function.pool.loop
        let limit = event.taskLimitMilliseconds ?? Self.limitMilliseconds
        let project = project
        // Deferred, because a gate or a pool may answer within this call.
        gate.enter(
            DispatchGate.Waiter(event: event) {
                EventInvocation(function: function, event: event, project: project, limitMilliseconds: limit) { result in
                    loop.endOfTurn { completion(result) }
                }.begin()
            } refuse: { result in
                completion(result)
            })
    }

    func retry(of event: OutboxEvent, after progress: inout DeliveryProgress, now: Int64) -> EventRetry {
        trigger.retry(after: &progress, now: now)
    }

    var retryMilliseconds: Int64? { Int64(trigger.retry.maxBackoffSeconds * 1000) }
}

extension TaskQueueTrigger {
    /// A task that waits longer for its next attempt is not kept in memory.
    static let longestInMemory: Int64 = 5000

    /// The treatment of a task after a failed attempt, which `progress` includes.
    func retry(after progress: inout DeliveryProgress, now: Int64) -> EventRetry {
        // The time for retries begins with the first attempt.
        if progress.attempts == 1 { progress.since = now }
        guard retry.goesOn(failures: progress.attempts, milliseconds: now - progress.since) else { return .giveUp(.failed) }
        let delay = retry.backoffMilliseconds(beforeRepetition: progress.attempts)
        return delay > Self.longestInMemory ? .later(milliseconds: delay) : .after(milliseconds: delay)
    }
}
