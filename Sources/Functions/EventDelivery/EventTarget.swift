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
    /// The treatment of an event after a failed attempt, which `progress` includes.
    ///
    /// - Parameters:
    ///   - progress: what is stored of the attempts. May be changed.
    ///   - now: in milliseconds since 1970.
    func retry(of event: OutboxEvent, after progress: inout DeliveryProgress, now: Int64) -> EventRetry
    /// The longest time between two attempts, in milliseconds; nil for that of the settings.
    var retryMilliseconds: Int64? { get }
    /// Returns the closure to call once it is durable that the event is settled; nil for none.
    ///
    /// - Parameter error: the reason why it was given up; nil after a success.
    func afterSettling(_ event: OutboxEvent, error: String?) -> (() -> Void)?
}

extension EventTarget {
    package func retry(of event: OutboxEvent, after progress: inout DeliveryProgress, now: Int64) -> EventRetry { .standard }
    package var retryMilliseconds: Int64? { nil }
    package func afterSettling(_ event: OutboxEvent, error: String?) -> (() -> Void)? { nil }
}

/// The treatment of an event after a failed attempt.
package enum EventRetry: Sendable, Equatable {
    /// That of the settings, if the function is retried.
    case standard
    /// Another attempt after this time.
    case after(milliseconds: Int64)
    /// Another attempt after this time. Until then, the keeper of the outbox has the event, and nothing of it is in memory.
    case later(milliseconds: Int64)
    /// No other attempt.
    case giveUp(DeadLetter.Reason)
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
