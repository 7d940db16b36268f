internal import HearthBytes
internal import CHearth
internal import HearthJSON
internal import Synchronization

/// One call of a function, and the executor that its task runs on: every job of the task goes to the host's loop under the
/// call's id, so that no job changes threads and whatever it prints is put down to the call.
///
/// The objects are used again once nobody else holds them.
// Mutable parts belong to the loop's thread, but for `details` and `drain`, which have locks. `id`, `deadlineNanoseconds` and
// what `reset` looks at without a lock change only while no other reference exists, or before the last one went.
final class Invocation: TaskExecutor, @unchecked Sendable {
    let attachment: Attachment
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
        var copy: [UInt8]?
        var parsed: CallContext?
    }
    private let details = Mutex(Details())
    private var borrowedContext: BorrowedBytes
    /// Whether `details` holds anything.
    private var hasDetails = false

    init(_ attachment: Attachment, _ call: UnsafePointer<hearth_invocation>) {
        self.attachment = attachment
        id = call.pointee.id
        deadlineNanoseconds = call.pointee.deadline_ns
        payload = BorrowedBytes(call.pointee.payload)
        borrowedContext = BorrowedBytes(call.pointee.context)
    }

    var host: Host { attachment.host }

    /// Makes a used object stand for another call.
    func begin(_ call: UnsafePointer<hearth_invocation>) {
        id = call.pointee.id
        deadlineNanoseconds = call.pointee.deadline_ns
        payload = BorrowedBytes(call.pointee.payload)
        borrowedContext = BorrowedBytes(call.pointee.context)
        isAnswered = false
        isCancelled = false
        hasStartedResponse = false
    }

    /// Forgets the call.
    func reset() {
        payload = .none
        borrowedContext = .none
        if keptPayload != nil { keptPayload = nil }
        if hasDetails {
            details.withLock { $0 = Details() }
            hasDetails = false
        }
        drain.reset()
    }

    /// Copies the context, because `invoke` is about to return and somebody may still ask for it.
    func keepContext() {
        payload = .none
        details.withLock { details in
            if details.parsed == nil { details.copy = borrowedContext.copy() }
            borrowedContext = .none
            hasDetails = true
        }
    }

    /// Copies the data, for a function that reads it after it has waited.
    func keepPayload() { keptPayload = payload.copy() }

    func withPayload<R>(_ body: (Span<UInt8>) throws -> R) rethrows -> R {
        if let keptPayload { return try body(keptPayload.span) }
        return try payload.withSpan(body)
    }

    /// The call's data as the type that the function asks for.
    func data<T: Decodable>(as type: T.Type = T.self) throws -> T {
        do {
            return try withPayload { try JSONDecoder().decode(type, from: $0) }
        } catch {
            throw HttpsError(.invalidArgument, shapeProblem(error, root: "data"))
        }
    }

    /// Who calls, and how.
    var context: CallContext {
        details.withLock { details in
            if let parsed = details.parsed { return parsed }
            let parsed =
                details.copy.map { CallContext(parsing: $0.span) } ?? borrowedContext.withSpan { CallContext(parsing: $0) }
            details.parsed = parsed
            details.copy = nil
            hasDetails = true
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
