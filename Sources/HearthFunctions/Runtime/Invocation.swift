internal import Bytes
internal import CHearth
internal import Synchronization

/// One call of a function, and the executor that its task runs on: every job of the task goes to the host's loop under the
/// call's id, so that no job changes threads and whatever it prints is put down to the call.
///
/// The objects are used again once nobody else holds them.
// Mutable parts belong to the loop's thread, but for `details` and `drain`, which have locks. `id`, `deadlineNanoseconds` and
// the borrowed bytes change in `begin` and `reset` only, when no other reference exists, or under the lock.
final class Invocation: TaskExecutor, @unchecked Sendable {
    unowned let attachment: Attachment
    private(set) var id: UInt64
    private var deadlineNanoseconds: UInt64
    private(set) var isAnswered = false
    private(set) var isCancelled = false
    var hasStartedResponse = false
    /// The task of an asynchronous function.
    var task: Task<Void, Never>?
    let drain = Drain()

    /// The data; the host's memory during `invoke`, then gone unless `keepPayload` was called.
    private var payload: BorrowedBytes
    private var keptPayload: [UInt8]?

    /// The context's text; the host's memory during `invoke`, then a copy.
    private struct Details {
        var borrowed = BorrowedBytes.none
        var copy: [UInt8]?
        var parsed: CallContext?
    }
    private let details: Mutex<Details>

    init(_ attachment: Attachment, _ call: UnsafePointer<hearth_invocation>) {
        self.attachment = attachment
        id = call.pointee.id
        deadlineNanoseconds = call.pointee.deadline_ns
        payload = BorrowedBytes(call.pointee.payload)
        details = Mutex(Details(borrowed: BorrowedBytes(call.pointee.context)))
    }

    var host: Host { attachment.host }

    /// Makes a used object stand for another call.
    func begin(_ call: UnsafePointer<hearth_invocation>) {
        id = call.pointee.id
        deadlineNanoseconds = call.pointee.deadline_ns
        payload = BorrowedBytes(call.pointee.payload)
        let context = BorrowedBytes(call.pointee.context)
        details.withLock { $0.borrowed = context }
        isAnswered = false
        isCancelled = false
        hasStartedResponse = false
    }

    /// Forgets the call.
    func reset() {
        payload = .none
        keptPayload = nil
        details.withLock { $0 = Details() }
        drain.reset()
    }

    /// Copies the context, because `invoke` is about to return and somebody may still ask for it.
    func keepContext() {
        payload = .none
        details.withLock { details in
            if details.parsed == nil { details.copy = details.borrowed.copy() }
            details.borrowed = .none
        }
    }

    /// Copies the data, for a function that reads it after it has waited.
    func keepPayload() { keptPayload = payload.copy() }

    func withPayload<R>(_ body: (Span<UInt8>) throws -> R) rethrows -> R {
        if let keptPayload { return try body(keptPayload.span) }
        return try payload.withSpan(body)
    }

    /// Who calls, and how.
    var context: CallContext {
        details.withLock { details in
            if let parsed = details.parsed { return parsed }
            let parsed =
                details.copy.map { CallContext(parsing: $0.span) } ?? details.borrowed.withSpan { CallContext(parsing: $0) }
            details.parsed = parsed
            details.copy = nil
            return parsed
        }
    }

    var deadline: ContinuousClock.Instant? {
        deadlineNanoseconds == 0 ? nil : .now + MonotonicTime.duration(until: deadlineNanoseconds)
    }

    /// The client is gone or the deadline has passed.
    func cancel() {
        isCancelled = true
        task?.cancel()
        drain.end()
    }

    /// Notes that the one answer is about to leave. False when it has left already.
    func takeAnswer() -> Bool {
        if isAnswered { return false }
        isAnswered = true
        attachment.finished(self)
        task = nil
        return true
    }

    func enqueue(_ job: consuming ExecutorJob) {
        ScheduledJob.schedule(UnownedJob(job), .of(self), on: host, for: id)
    }
}
