import Configuration
import EventLoop
import FunctionDispatch
import RealtimeDatabase

/// A deployed function with an event trigger.
final class EventFunction: EventTarget {
    private let function: RegisteredFunction
    private let project: String
    private var dice = TrafficDice()

    init(_ function: RegisteredFunction, project: String) {
        self.function = function
        self.project = project
    }

    var isRetried: Bool { function.options.retry }
    var generation: Int { function.generation }
    var attemptsMax: Int { max(1, function.options.concurrency * function.options.maxInstances) }

    func attempt(_ event: OutboxEvent, completion: @escaping (AttemptResult) -> Void) {
        let function = dice.choose(function)
        let loop = function.pool.loop
        let invocation = EventInvocation(function: function, event: event, project: project) { result in
            // Deferred, because a pool may refuse the event within this call.
            loop.endOfTurn { completion(result) }
        }
        invocation.begin()
    }
}
