import Configuration

/// The set of functions, as announced to loops, databases and event delivery.
package struct Publication {
    /// Those that run, in the order of names.
    package var functions: [RegisteredFunction]
    /// The triggers of deployed functions that cannot run now, by name: their events are raised, and wait.
    package var waitingTriggers: [String: EventTrigger]
    /// Whether a function that is in neither is gone for good.
    package var isComplete: Bool

    package init(functions: [RegisteredFunction], waitingTriggers: [String: EventTrigger], isComplete: Bool) {
        self.functions = functions
        self.waitingTriggers = waitingTriggers
        self.isComplete = isComplete
    }
}
