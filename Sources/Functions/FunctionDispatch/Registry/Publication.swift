import Configuration

/// The set of functions that is announced to loops, databases and event delivery.
package struct Publication {
    /// The functions that can run, sorted by name.
    package var functions: [RegisteredFunction]
    /// The triggers of deployed functions that cannot run now, by name. Their events are recorded and wait.
    package var waitingTriggers: [String: EventTrigger]
    /// Whether every deployed function is in one of the two, so that all others were removed for good.
    package var isComplete: Bool

    package init(functions: [RegisteredFunction], waitingTriggers: [String: EventTrigger], isComplete: Bool) {
        self.functions = functions
        self.waitingTriggers = waitingTriggers
        self.isComplete = isComplete
    }
}
