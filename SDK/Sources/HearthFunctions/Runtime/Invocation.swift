internal import CHearth
internal import HearthBytes
internal import HearthJSON
internal import Synchronization

/// One call of a function, and the executor of its task: every job of the task goes to the host's loop under the
/// call's id. So no job changes threads, and its output belongs to the call.
///
/// Objects are reused once they have no other references.
// Mutable parts belong to the loop's thread, except `details` and `drain`, which have locks. `id`, `deadlineNanoseconds` and the
// parts that `reset` reads without a lock change only while there is no other reference.
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
    private var isContextRaw: Bool
    /// Whether `details` holds anything.
    private var hasDetails = false

    init(_ attachment: Attachment, _ call: UnsafePointer<hearth_invocation>) {
        self.attachment = attachment
        id = call.pointee.id
        deadlineNanoseconds = call.pointee.deadline_ns
        payload = BorrowedBytes(call.pointee.payload)
        borrowedContext = BorrowedBytes(call.pointee.context)
        isContextRaw = call.pointee.context_format == HEARTH_CONTEXT_RAW.rawValue
    }

    var host: Host { attachment.host }

    /// Reuses the object for another call.
    func begin(_ call: UnsafePointer<hearth_invocation>) {
        id = call.pointee.id
        deadlineNanoseconds = call.pointee.deadline_ns
        payload = BorrowedBytes(call.pointee.payload)
        borrowedContext = BorrowedBytes(call.pointee.context)
        isContextRaw = call.pointee.context_format == HEARTH_CONTEXT_RAW.rawValue
        isAnswered = false
        isCancelled = false
        hasStartedResponse = false
    }

    /// Resets everything that belongs to the call.
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

    /// Copies the context, because `invoke` is about to return and the function may still read it.
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

    /// The context of the call.
    var context: CallContext {
        details.withLock { details in
            if let parsed = details.parsed { return parsed }
            let bytes = details.copy ?? borrowedContext.copy()
            let parsed = isContextRaw ? CallContext(raw: bytes) : CallContext(json: bytes)
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

    /// Marks the invocation as answered. False when it was answered before.
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

/// An invocation as the code that is compiled into a plugin sees it: data in, answer out.
@usableFromInline
struct CallHandle: Sendable {
    let invocation: Invocation

    /// The call's data as the type that the function asks for.
    @usableFromInline
    func data<T: Decodable>(as type: T.Type = T.self) throws -> T { try invocation.data(as: type) }

    /// Answers with the function's result.
    @usableFromInline
    func answer<Output: Encodable>(_ output: Output) { invocation.answer(output) }

    /// Answers for a function that returns nothing: the client gets null.
    @usableFromInline
    func answerNothing() { invocation.answerNothing() }
}

/// Runs a function. There is one handler for each function, for as long as the plugin is loaded.
@usableFromInline
// Subclasses hold immutable, Sendable parts only.
class FunctionHandler: @unchecked Sendable {
    /// Begins a call. Each override answers the invocation once, now or later.
    func start(_ invocation: Invocation) {
        preconditionFailure("a handler overrides start")
    }
}

/// Memory of the host, readable until the call that it came with returns.
// The bytes are only read, and only during that call. To keep them longer, copy them.
struct BorrowedBytes: @unchecked Sendable {
    private let buffer: UnsafeBufferPointer<UInt8>

    static let none = BorrowedBytes(hearth_bytes(data: nil, size: 0))

    init(_ bytes: hearth_bytes) {
        buffer = UnsafeBufferPointer(start: bytes.data?.assumingMemoryBound(to: UInt8.self), count: bytes.size)
    }

    func copy() -> [UInt8] { Array(buffer) }

    func withSpan<R>(_ body: (Span<UInt8>) throws -> R) rethrows -> R { try body(buffer.span) }
}
