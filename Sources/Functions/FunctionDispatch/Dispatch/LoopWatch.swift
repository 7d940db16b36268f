import FunctionWorker

/// Detects a worker whose event loop is blocked, from the state in its ``WorkerPage``.
///
/// A worker without a sign of life is either in the same call into the plugin as before, or has not received frames that were sent to it.
struct LoopWatch {
    /// The interval of the checks of workers that have something to do.
    static let lookMilliseconds: UInt64 = 100
    /// The time without a sign of life after which a worker gets no more calls.
    static let serviceMilliseconds: UInt64 = 500

    /// The state at the last check.
    private(set) var last: WorkerPage.Sight?
    private var lastLookMilliseconds: UInt64 = 0
    /// The time without a sign of life.
    private(set) var stillMilliseconds: UInt64 = 0

    /// Makes a check.
    ///
    /// - Returns: ``stillMilliseconds``.
    mutating func look(_ sight: WorkerPage.Sight, framesSent: UInt64, now: UInt64) -> UInt64 {
        let hasSomethingToDo = sight.isInPlugin || sight.framesReceived < framesSent
        // Any change of the state is a sign of life, also the end of a call into the plugin.
        if hasSomethingToDo, last == sight {
            // The added time is limited, because the host itself may have been stopped or starved since the last check.
            stillMilliseconds += min(now - lastLookMilliseconds, 2 * Self.lookMilliseconds)
        } else {
            stillMilliseconds = 0
        }
        last = sight
        lastLookMilliseconds = now
        return stillMilliseconds
    }
}
