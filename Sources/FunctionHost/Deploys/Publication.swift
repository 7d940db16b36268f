import Configuration

/// What loops, databases and the delivery of events are told of the functions that there are.
struct Publication {
    /// Those that run, in the order of names.
    var functions: [RegisteredFunction]
    /// By name, what deployed functions run because of that cannot run now: their events are raised, and wait.
    var waitingTriggers: [String: EventTrigger]
    /// Whether a function that is in neither is gone for good.
    var isComplete: Bool
}
