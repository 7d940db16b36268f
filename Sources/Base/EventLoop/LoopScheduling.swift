/// How the threads of a process with several loops share the processors with each other and with other programs (docs/decisions/scheduling.md).
public enum LoopScheduling: Sendable, Equatable {
    /// A loop preempts threads that compute: there is a processor for each loop and more.
    case first
    /// A loop asks for short slices of time, but has no priority: the loops can occupy all processors, and would preempt their own workers.
    case soon
    /// A loop waits for its turn: there are more loops than processors, which would otherwise preempt each other for single requests.
    case inTurn

    /// The scheduling of so many loops.
    ///
    /// - Parameter processors: how many the process may use.
    public init(loops: Int, processors: Int = Processors.available) {
        self = loops == 1 || loops < processors ? .first : loops == processors ? .soon : .inTurn
    }
}
