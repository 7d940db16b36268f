internal import CHearth

/// A job of Swift's concurrency on its way through the host's loop, in memory of its own so that it passes as one pointer.
struct ScheduledJob {
    /// The executor on which a job must run, as Swift's runtime sees it.
    enum Place {
        /// That of an invocation's task.
        case of(Invocation)
        /// The global executor: detached tasks, actors, clocks. Counted to an invocation, or to 0.
        case global(for: UInt64)
        /// The main actor.
        case main(for: UInt64)
    }

    private let job: UnownedJob
    private let place: Place

    /// Asks the host to run the job soon, or after a delay.
    static func schedule(
        _ job: UnownedJob, _ place: Place, on host: Host, for invocation: UInt64, afterNanoseconds delay: UInt64 = 0
    ) {
        let memory = UnsafeMutablePointer<ScheduledJob>.allocate(capacity: 1)
        memory.initialize(to: ScheduledJob(job: job, place: place))
        if delay == 0 {
            host.schedule(invocation, run, memory)
        } else {
            host.schedule(invocation, afterNanoseconds: delay, run, memory)
        }
    }

    /// Schedules a job of the default executor under the invocation that made it.
    static func scheduleGlobal(_ job: UnownedJob, afterNanoseconds delay: UInt64 = 0) {
        guard let attachment = Attachment.current else { return }
        let invocation = attachment.attributed
        schedule(job, .global(for: invocation), on: attachment.host, for: invocation, afterNanoseconds: delay)
    }

    /// Schedules a job of the main actor.
    static func scheduleMain(_ job: UnownedJob) {
        guard let attachment = Attachment.current else { return }
        let invocation = attachment.attributed
        schedule(job, .main(for: invocation), on: attachment.host, for: invocation)
    }

    private static let run: hearth_job = { context in
        guard let memory = context?.assumingMemoryBound(to: ScheduledJob.self) else { return }
        let scheduled = memory.move()
        memory.deallocate()
        scheduled.run()
    }

    private func run() {
        switch place {
        case .of(let invocation):
            invocation.attachment.attributing(invocation.id) {
                job.runSynchronously(on: invocation.asUnownedTaskExecutor())
            }
        case .global(let invocation):
            Attachment.current?.attributing(invocation) {
                job.runSynchronously(on: globalConcurrentExecutor.asUnownedTaskExecutor())
            }
        case .main(let invocation):
            Attachment.current?.attributing(invocation) {
                job.runSynchronously(on: MainActor.sharedUnownedExecutor)
            }
        }
    }
}
