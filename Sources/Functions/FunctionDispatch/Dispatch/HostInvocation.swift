import AdminProtocol
import EventLoop
import HearthBytes
import HearthJSON
import HTTP
import RealtimeDatabase
import WorkerProtocol

/// One call of one function, from its admission until it is answered. Belongs to the dispatcher's loop.
///
/// A subclass is the way the request came: it writes the context that the function sees, and turns what the function
/// answers into the protocol's answer. Exactly one of ``didAnswer(_:head:body:)`` and ``didFail(_:)`` is called, unless
/// the invocation was cancelled.
open class HostInvocation {
    /// The function that is called.
    package final let function: RegisteredFunction
    /// When it must be answered, in milliseconds of the loop's clock; `UInt64.max` for never.
    package final var deadlineMilliseconds = UInt64.max
    /// Its place in a trace: what it does for whoever asked for it. Set before it is started.
    package final var trace: TraceContext?
    /// Whether chunks of an answer are wanted before its end.
    package final var takesChunks = false

    final var state = State.new
    final var queuedAtMilliseconds: UInt64 = 0
    /// When it was started, on the loop's clock; 0 before, and once it is counted as over.
    final private(set) var startedNanoseconds: UInt64 = 0
    /// Whether there was no instance for it when it came.
    final var isColdStart = false
    /// The first digit of the status of an answer that was begun.
    final var statusClass = 0
    /// Context and payload of an invocation that waits for a worker.
    final var parked = ByteBuffer()
    final var parkedContextSize = 0
    private var wasParked = false
    /// Counts its parked bytes until it is started.
    package final var charge = MemoryCharge()

    enum State {
        case new
        /// Waits in its pool's queue.
        case queued
        /// In a worker, in the slot of its id.
        case running(WorkerPlace)
        /// Answered, failed or cancelled; what its worker still says of it is dropped.
        case over
    }

    public init(function: RegisteredFunction) { self.function = function }

    /// Whether it waits for a worker.
    package final var isQueued: Bool { if case .queued = state { true } else { false } }

    /// Marks it as over on this loop: another one answers for it.
    package final func relinquish() { state = .over }

    // MARK: What a subclass says

    /// The events that led to it; what it writes is part of the same chain.
    open var chain: EventChain { EventChain() }

    /// Appends the context object of hearth.h.
    open func writeContext(into buffer: inout ByteBuffer) {}

    /// The function's answer.
    open func didAnswer(_ kind: AnswerKind, head: Span<UInt8>, body: Span<UInt8>) {}

    /// A streamed response begins.
    open func didStartResponse(head: Span<UInt8>) {}

    /// A part of the answer.
    open func didReceiveChunk(_ chunk: Span<UInt8>) {}

    /// There will be no answer of the function's.
    open func didFail(_ failure: InvocationFailure) {}

    /// Makes the charge for its parked bytes.
    open func makeCharge() -> MemoryCharge { MemoryCharge(function.pool.dispatcher.memory.requests, nil) }

    // MARK: What the request's side says

    /// Sends it on its way.
    package final func start(payload: Span<UInt8>) {
        startedNanoseconds = function.pool.loop.nowNanoseconds
        function.figures.begin()
        function.pool.dispatch(self, payload: payload)
    }

    /// Fails it instead of starting it.
    package final func refuse(_ failure: InvocationFailure) {
        startedNanoseconds = function.pool.loop.nowNanoseconds
        function.figures.begin()
        fail(failure)
    }

    /// Counts it as over, once.
    final func end(_ outcome: InvocationOutcome) {
        state = .over
        if !parked.isEmpty { parked.clear(keepingAtMost: 0) }
        if charge.bytes != 0 { charge.set(to: 0) }
        guard startedNanoseconds != 0 else { return }
        var nanoseconds = function.pool.loop.nowNanoseconds &- startedNanoseconds
        // What runs inside the host may have been done in one turn.
        if nanoseconds == 0 { nanoseconds = EventLoop.monotonicNanoseconds() &- startedNanoseconds }
        startedNanoseconds = 0
        function.figures.end(outcome, nanoseconds: nanoseconds)
    }

    /// Nobody waits for the answer any more.
    package final func cancel() {
        switch state {
        case .running(let place):
            place.worker.cancel(place.id)
            end(InvocationOutcome(.cancelled))
        case .queued:
            end(InvocationOutcome(.cancelled))
            function.pool.forgetQueued()
        case .new, .over: end(InvocationOutcome(.cancelled))
        }
    }

    /// The client's socket has taken `size` bytes of chunks.
    package final func acknowledge(size: Int) {
        if case .running(let place) = state { place.worker.acknowledge(place.id, size: size) }
    }

    /// Ends it with a failure unless it is over; its worker, if any, is told to stop.
    final func fail(_ failure: InvocationFailure) {
        switch state {
        case .over: return
        case .running(let place):
            place.worker.cancel(place.id)
            end(InvocationOutcome(failure.code))
        case .new:
            // A worker that began nothing of it may have given it back: it has waited then.
            if !wasParked { function.figures.refuseAtOnce() }
            end(InvocationOutcome(failure.code))
        case .queued: end(InvocationOutcome(failure.code))
        }
        didFail(failure)
    }

    /// Keeps what is needed to start it later.
    ///
    /// - Returns: whether there is room for it.
    final func park(payload: Span<UInt8>) -> Bool {
        writeContext(into: &parked)
        parkedContextSize = parked.count
        guard keeps(parked.count + payload.count) else {
            parked.clear(keepingAtMost: 0)
            return false
        }
        countAsParked()
        parked.append(payload)
        return true
    }

    /// Counts it among those that did not get an instance at once; once, however often it waits for one.
    final func countAsParked() {
        guard !wasParked else { return }
        wasParked = true
        function.figures.park()
    }

    /// Counts `bytes` as kept until it is started or over, where there is room for them.
    package final func keeps(_ bytes: Int) -> Bool {
        if !charge.isBound { charge = makeCharge() }
        return charge.grow(to: bytes) == .granted
    }

    /// Takes out what was kept.
    final func takeParked() -> ByteBuffer {
        var buffer = ByteBuffer()
        swap(&buffer, &parked)
        charge.set(to: 0)
        return buffer
    }
}

/// Where an invocation runs: a slot of a worker.
struct WorkerPlace {
    /// A worker that ends takes every invocation out of its slots first, and so is not counted for each.
    unowned(unsafe) let worker: Worker
    let id: InvocationID
}

extension ByteBuffer {
    /// Appends the members of the context that say where in a trace an invocation is, each after a comma.
    package mutating func append(_ trace: TraceContext) {
        append(",\"trace\":\"")
        trace.appendParent(to: &self)
        append(UInt8(ascii: "\""))
        guard let state = trace.state else { return }
        append(",\"tracestate\":")
        append(jsonString: state.span)
    }
}
