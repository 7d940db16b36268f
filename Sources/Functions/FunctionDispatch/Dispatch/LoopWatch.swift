import FunctionWorker

/// Tells a worker whose loop does not turn from one that waits for something, by what the worker shows in its ``WorkerPage``.
///
/// A worker without a sign of life is inside one and the same piece of the plugin's code as before, or has not received what it was sent.
struct LoopWatch {
    /// How often workers that have something to do are looked at.
    static let lookMilliseconds: UInt64 = 100
    /// How long a worker may be without a sign of life before it gets no more calls.
    static let serviceMilliseconds: UInt64 = 500

    /// The sight of the last look.
    private(set) var last: WorkerPage.Sight?
    private var lastLookMilliseconds: UInt64 = 0
    /// How long there has been no sign of life.
    private(set) var stillMilliseconds: UInt64 = 0

    /// Looks once.
    ///
    /// - Returns: ``stillMilliseconds``.
    mutating func look(_ sight: WorkerPage.Sight, framesSent: UInt64, now: UInt64) -> UInt64 {
        let hasSomethingToDo = sight.isInPlugin || sight.framesReceived < framesSent
        // The end of a piece of code is a sign of life too.
        if hasSomethingToDo, last == sight {
            // A host that did not run itself, stopped or starved, has not seen the worker hang for all that time.
            stillMilliseconds += min(now - lastLookMilliseconds, 2 * Self.lookMilliseconds)
        } else {
            stillMilliseconds = 0
        }
        last = sight
        lastLookMilliseconds = now
        return stillMilliseconds
    }
}
