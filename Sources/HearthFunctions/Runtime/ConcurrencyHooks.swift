import Glibc

/// Brings home what a task executor's preference does not reach: detached tasks, actors' own jobs, `Task.sleep` and the main
/// actor go to Swift's global executor, which would run them on threads of its own and cost two thread changes each.
///
/// Swift's runtime lets the global executor be replaced through variables that it exports. They are no official interface,
/// so each assumption stands beside its line, and a compiler that has not been tried does not get them.
enum ConcurrencyHooks {
    /// Sets the hooks where that is ours to do: in a worker, whose Swift runtime serves this plugin alone whether it is
    /// linked in or shared. Inside a host's own process they might be the host's.
    static func installIfAllowed() {
        if Worker.isThisProcess { install }
    }

    #if compiler(>=6.2) && compiler(<6.6)
    // Assumed: the runtime reads these variables with each enqueue, and calls what they hold instead of its own executor.
    // Set once, on the loop's thread, before the first task exists.
    private static let install: Void = {
        enqueueGlobalHook = enqueueGlobal
        enqueueGlobalWithDelayHook = enqueueGlobalWithDelay
        enqueueGlobalWithDeadlineHook = enqueueGlobalWithDeadline
        enqueueMainExecutorHook = enqueueMainExecutor
    }()
    #else
    private static let install: Void = ()
    #endif
}

#if compiler(>=6.2) && compiler(<6.6)
// Assumed: the hooks' arguments are words and one int, which Swift's calling convention passes in the same registers as C's
// on x86-64 and arm64; the last of them, the original function, is not used. `UnownedJob` is a pointer to the job.
private typealias EnqueueGlobal = @convention(c) (UnsafeRawPointer, UnsafeRawPointer?) -> Void
private typealias EnqueueGlobalWithDelay = @convention(c) (UInt64, UnsafeRawPointer, UnsafeRawPointer?) -> Void
private typealias EnqueueGlobalWithDeadline =
    @convention(c) (Int64, Int64, Int64, Int64, CInt, UnsafeRawPointer, UnsafeRawPointer?) -> Void

// The runtime's own variables; nothing else in a worker writes them, and `install` runs once.
@_silgen_name("swift_task_enqueueGlobal_hook")
private nonisolated(unsafe) var enqueueGlobalHook: EnqueueGlobal?
// As above.
@_silgen_name("swift_task_enqueueGlobalWithDelay_hook")
private nonisolated(unsafe) var enqueueGlobalWithDelayHook: EnqueueGlobalWithDelay?
// As above.
@_silgen_name("swift_task_enqueueGlobalWithDeadline_hook")
private nonisolated(unsafe) var enqueueGlobalWithDeadlineHook: EnqueueGlobalWithDeadline?
// As above.
@_silgen_name("swift_task_enqueueMainExecutor_hook")
private nonisolated(unsafe) var enqueueMainExecutorHook: EnqueueGlobal?

private let enqueueGlobal: EnqueueGlobal = { job, _ in enqueue(job, after: 0) }

private let enqueueGlobalWithDelay: EnqueueGlobalWithDelay = { nanoseconds, job, _ in enqueue(job, after: nanoseconds) }

// Assumed: clock 1 is the continuous one, CLOCK_BOOTTIME on Linux; the others count as CLOCK_MONOTONIC does.
private let enqueueGlobalWithDeadline: EnqueueGlobalWithDeadline = { seconds, nanoseconds, _, _, clock, job, _ in
    let now = MonotonicTime.read(clock == 1 ? CLOCK_BOOTTIME : CLOCK_MONOTONIC)
    let deadline = UInt64(clamping: seconds) &* 1_000_000_000 &+ UInt64(clamping: nanoseconds)
    enqueue(job, after: deadline > now ? deadline - now : 0)
}

private let enqueueMainExecutor: EnqueueGlobal = { job, _ in
    guard let attachment = Attachment.current else { return }
    let invocation = attachment.attributed
    ScheduledJob.schedule(unowned(job), .main(for: invocation), on: attachment.host, for: invocation)
}

private func enqueue(_ job: UnsafeRawPointer, after nanoseconds: UInt64) {
    guard let attachment = Attachment.current else { return }
    let invocation = attachment.attributed
    ScheduledJob.schedule(
        unowned(job), .global(for: invocation), on: attachment.host, for: invocation, afterNanoseconds: nanoseconds)
}

private func unowned(_ job: UnsafeRawPointer) -> UnownedJob {
    // `UnownedJob` is a struct of one pointer, the runtime's `Job *` that the hook was given.
    unsafeBitCast(job, to: UnownedJob.self)
}
#endif
