import Configuration

/// The set of functions, as announced to loops, databases and event delivery.
struct Publication {
    /// Those that run, in the order of names.
    var functions: [RegisteredFunction]
    /// The triggers of deployed functions that cannot run now, by name: their events are raised, and wait.
    var waitingTriggers: [String: EventTrigger]
    /// Whether a function that is in neither is gone for good.
    var isComplete: Bool
}
