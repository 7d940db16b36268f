import Configuration
import DequeModule
import EventDelivery
import EventLoop
import FunctionDispatch
import Logs
import RealtimeDatabase

/// A function that runs at due times.
protocol ScheduledTarget: EventTarget {
    var declaration: ScheduleDeclaration { get }
}

/// A deployed function with a schedule.
final class ScheduledFunction: ScheduledTarget {
    private let registered: RegisteredFunction
    let declaration: ScheduleDeclaration
    private let project: String
    private unowned let engine: ScheduleEngine
    private var dice = TrafficDice()

    init(_ registered: RegisteredFunction, _ declaration: ScheduleDeclaration, project: String, engine: ScheduleEngine) {
        self.registered = registered
        self.declaration = declaration
        self.project = project
        self.engine = engine
    }

    // Retries are those of the schedule.
    var isRetried: Bool { false }
    var generation: Int { registered.generation }
    /// Runs of one schedule never overlap.
    var attemptsMax: Int { 1 }

    func attempt(_ event: OutboxEvent, completion: @escaping (AttemptResult) -> Void) {
        let function = dice.choose(registered)
        let loop = function.pool.loop
        engine.lobby(of: function).enter { [self] leave in
            engine.willAttempt(event)
            let invocation = EventInvocation(function: function, event: event, project: project) { [engine] result in
                // Deferred, because a pool may refuse the event within this call.
                loop.endOfTurn {
                    leave()
                    engine.didAttempt(event, result)
                    completion(result)
                }
            }
            invocation.begin()
        }
    }

    func retry(of event: OutboxEvent, after progress: inout DeliveryProgress, now: Int64) -> EventRetry {
        declaration.retry(of: event, after: progress, now: now)
    }

    var retryMilliseconds: Int64? { Int64(declaration.trigger.retry.maxBackoffSeconds * 1000) }

    func afterSettling(_ event: OutboxEvent, error: String?) -> (() -> Void)? { { [engine] in engine.didSettle(event, error: error) } }
}

/// Admits as many runs at a time as the workers of a pool can take; the others wait in their order. Thousands of schedules that are due in the
/// same second would only fill the pool's queue, and be refused again and again.
final class PoolLobby {
    private let capacity: Int
    private var running = 0
    private var waiting = Deque<(@escaping () -> Void) -> Void>()

    init(capacity: Int) { self.capacity = max(1, capacity) }

    var isEmpty: Bool { running == 0 && waiting.isEmpty }

    /// Calls `start` when there is room, perhaps at once. It gets a closure to call at the end.
    func enter(_ start: @escaping (@escaping () -> Void) -> Void) {
        guard running < capacity else { return waiting.append(start) }
        admit(start)
    }

    private func admit(_ start: (@escaping () -> Void) -> Void) {
        running += 1
        start { [self] in
            running -= 1
            if running < capacity, let next = waiting.popFirst() { admit(next) }
        }
    }
}
