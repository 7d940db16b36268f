import RealtimeDatabase

/// A function as the delivery of events sees it.
package protocol EventTarget: AnyObject {
    /// Whether it asks to be run again when it fails.
    var isRetried: Bool { get }
    /// 1 or 2: decides how long it is tried.
    var generation: Int { get }
    /// How many events it is given at a time.
    var attemptsMax: Int { get }
    /// Gives it an event; `completion` is called once on the home loop, never before this returns.
    func attempt(_ event: OutboxEvent, completion: @escaping (AttemptResult) -> Void)
}

/// What came of an attempt.
package enum AttemptResult: Sendable, Equatable {
    case succeeded
    /// The function answered with an error, or not in time.
    case failed(String)
    /// The worker ended before the function had answered.
    case interrupted(String)
    /// The function never saw it: its pool takes nothing now.
    case refused(afterMilliseconds: UInt64)
    /// The host stops: the next one begins again.
    case stopped
}
