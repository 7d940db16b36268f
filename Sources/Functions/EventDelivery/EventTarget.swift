import RealtimeDatabase

/// A function to which events are delivered.
package protocol EventTarget: AnyObject {
    /// Whether failed events are retried.
    var isRetried: Bool { get }
    /// The function's generation, 1 or 2, which determines how long events are retried.
    var generation: Int { get }
    /// The most events that run at the same time.
    var attemptsMax: Int { get }
    /// Runs the function for an event. `completion` is called once on the home loop, never before this function returns.
    func attempt(_ event: OutboxEvent, completion: @escaping (AttemptResult) -> Void)
}

/// The outcome of an attempt.
package enum AttemptResult: Sendable, Equatable {
    case succeeded
    /// The function answered with an error, or not in time.
    case failed(String)
    /// The worker ended before the function had answered.
    case interrupted(String)
    /// The function was not called, because its pool takes no invocations now.
    case refused(afterMilliseconds: UInt64)
    /// The host is stopping. The next host makes the attempt again.
    case stopped
}
