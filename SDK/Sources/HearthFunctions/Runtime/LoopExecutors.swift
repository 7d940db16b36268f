@_spi(ExperimentalCustomExecutors) @_spi(ExperimentalScheduling) import _Concurrency

/// Replaces Swift's default executors by the worker's loop.
///
/// A task executor's preference does not reach unstructured and detached tasks, actors' own jobs and the main actor. They would run
/// on Swift's default executors, whose threads would cost two thread changes for each job.
///
/// Swift's runtime lets the default executors be replaced, but the interface is not official yet. Comments name the assumptions. A
/// compiler that has not been tested keeps its own executors, with which everything works, too.
enum LoopExecutors {
    /// Replaces them if the runtime serves this plugin alone.
    static func installIfAllowed() {
        if Premises.ownsSwiftRuntime { install }
    }

    #if compiler(>=6.3) && compiler(<6.4)
    // Assumed: the runtime asks for its default executors with each enqueue, and makes its own only when it finds none; the
    // plugin is attached before its first task exists.
    private static let install: Void = _createExecutors(factory: LoopExecutorFactory.self)
    #else
    private static let install: Void = ()
    #endif
}

#if compiler(>=6.3) && compiler(<6.4)
private enum LoopExecutorFactory: ExecutorFactory {
    static let mainExecutor: any MainExecutor = LoopMainExecutor()
    static let defaultExecutor: any TaskExecutor = LoopDefaultExecutor()
}

/// The executor of tasks without a preference.
private final class LoopDefaultExecutor: TaskExecutor, SchedulingExecutor {
    func enqueue(_ job: consuming ExecutorJob) { ScheduledJob.scheduleGlobal(UnownedJob(job)) }

    func enqueue<C: Clock>(
        _ job: consuming ExecutorJob, after delay: C.Duration, tolerance: C.Duration?, clock: C
    ) {
        ScheduledJob.scheduleGlobal(UnownedJob(job), afterNanoseconds: nanoseconds(delay))
    }

    func enqueue<C: Clock>(
        _ job: consuming ExecutorJob, at instant: C.Instant, tolerance: C.Duration?, clock: C
    ) {
        ScheduledJob.scheduleGlobal(UnownedJob(job), afterNanoseconds: nanoseconds(clock.now.duration(to: instant)))
    }
}

/// The main actor's place: the loop as well.
private final class LoopMainExecutor: MainExecutor {
    func enqueue(_ job: consuming ExecutorJob) { ScheduledJob.scheduleMain(UnownedJob(job)) }

    func checkIsolated() {
        precondition(Attachment.current?.isOnLoop == true, "the main actor runs on the worker's loop")
    }

    // The loop belongs to the host, so there is nothing to run or to stop here.
    func run() {}
    func stop() {}
}

/// A task of an invocation sleeps on the loop wherever the plugin was loaded.
// Assumed: `Task.sleep` looks for this conformance at the executor that its task prefers.
extension Invocation: SchedulingExecutor {
    func enqueue<C: Clock>(
        _ job: consuming ExecutorJob, after delay: C.Duration, tolerance: C.Duration?, clock: C
    ) {
        ScheduledJob.schedule(UnownedJob(job), .of(self), on: host, for: id, afterNanoseconds: nanoseconds(delay))
    }

    func enqueue<C: Clock>(
        _ job: consuming ExecutorJob, at instant: C.Instant, tolerance: C.Duration?, clock: C
    ) {
        let delay = nanoseconds(clock.now.duration(to: instant))
        ScheduledJob.schedule(UnownedJob(job), .of(self), on: host, for: id, afterNanoseconds: delay)
    }
}

/// A delay in nanoseconds; 0 where it has passed.
private func nanoseconds<D: DurationProtocol>(_ delay: D) -> UInt64 {
    guard let delay = delay as? Duration else { preconditionFailure("the clocks of Swift's library measure in Duration") }
    let (seconds, attoseconds) = delay.components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    // Rounded up, so that no task wakes too early.
    let fraction = UInt64((attoseconds + 999_999_999) / 1_000_000_000)
    let (whole, isTooLong) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
    return isTooLong || whole > .max - fraction ? .max : whole + fraction
}
#endif
