import AdminProtocol
import EventLoop
import HearthBytes
import HearthJSON
import HTTP
import RealtimeDatabase
import WorkerProtocol

/// A call of a function, from its admission to its answer. Belongs to the loop that it is started on: the dispatcher's, or the loop that
/// accepted it if a worker has room.
///
/// A subclass implements the source of the call: it writes the context for the function, and converts the function's answer to the source's
/// protocol. Exactly one of ``didAnswer(_:head:body:)`` and ``didFail(_:)`` is called, unless the invocation was cancelled.
open class HostInvocation {
    /// The function that is called.
    package final let function: RegisteredFunction
    /// The loop that it belongs to. Exists longer than the invocation.
    private final unowned(unsafe) let loop: EventLoop
    /// The index of that loop in the host, if it was started there without the dispatcher; otherwise 0.
    private final var loopNumber = 0
    /// When it must be answered, in milliseconds of the loop's clock; `UInt64.max` for no deadline.
    package final var deadlineMilliseconds = UInt64.max
    /// Its trace context. Set before it is started.
    package final var trace: TraceContext?
    /// Whether its context has the raw form of hearth.h, not JSON.
    package final var isContextRaw = false
    /// Whether the source takes chunks of the answer before its end.
    package final var takesChunks = false

    final var state = State.new
    final var queuedAtMilliseconds: UInt64 = 0
    /// When it was started, in nanoseconds of the loop's clock; 0 before that, and once its end has been counted.
    final private(set) var startedNanoseconds: UInt64 = 0
    /// Whether no instance was ready when it arrived.
    final var isColdStart = false
    /// The first digit of the status of a streamed answer that has started.
    final var statusClass = 0
    /// The context and payload of an invocation that waits for a worker.
    final var parked = ByteBuffer()
    final var parkedContextSize = 0
    private var wasParked = false
    /// How long it has waited for an instance.
    final private(set) var waitedNanoseconds: UInt64 = 0
    /// Charges the parked bytes to the memory budget until the invocation is started.
    package final var charge = MemoryCharge()

    enum State {
        case new
        /// Waiting in the queue of its pool.
        case queued
        /// Running in a worker, in the slot of its id.
        case running(InvocationPlace)
        /// Answered, failed or cancelled. Anything that its worker still sends for it is dropped.
        case over
    }

    /// - Parameter loop: the loop that it belongs to; nil for the dispatcher's.
    public init(function: RegisteredFunction, loop: EventLoop? = nil) {
        self.function = function
        self.loop = loop ?? function.pool.loop
    }

    /// Whether it is waiting for a worker.
    package final var isQueued: Bool { if case .queued = state { true } else { false } }

    /// Notes that it was removed from the queue of its pool without being started. From now on, the queue no longer counts it when it ends.
    final func leaveQueue() { state = .new }

    /// Ends it on this loop without an answer, because its counterpart on another loop answers.
    package final func relinquish() { state = .over }

    // MARK: Overridden by subclasses

    /// The chain of events that caused it. Writes of the function continue the chain.
    open var chain: EventChain { EventChain() }

    /// Appends the context, in the form that ``isContextRaw`` says.
    open func writeContext(into buffer: inout ByteBuffer) {}

    /// Handles the function's answer.
    open func didAnswer(_ kind: AnswerKind, head: Span<UInt8>, body: Span<UInt8>) {}

    /// Handles the start of a streamed response.
    open func didStartResponse(head: Span<UInt8>) {}

    /// Handles a part of the answer.
    open func didReceiveChunk(_ chunk: Span<UInt8>) {}

    /// Handles the end without an answer of the function.
    open func didFail(_ failure: InvocationFailure) {}

    /// Starts the invocation again, through the dispatcher's loop, because the worker that it was sent to has not read it. Called only after
    /// ``start(payload:on:)``; the invocation is no longer counted in the function's figures.
    open func moveToDispatcher(context: Span<UInt8>, payload: Span<UInt8>) {}

    /// Creates the memory charge for the parked bytes.
    open func makeCharge() -> MemoryCharge { MemoryCharge(function.pool.dispatcher.memory.requests, nil) }

    // MARK: Called by the source

    /// Starts it on the dispatcher's loop.
    package final func start(payload: Span<UInt8>) {
        begin()
        function.pool.dispatch(self, payload: payload)
    }

    /// Starts it on another loop, on a worker that has room.
    ///
    /// - Returns: false if no worker has room. Then start it on the dispatcher's loop.
    package final func start(payload: Span<UInt8>, on pool: PoolLane) -> Bool {
        guard let lane = pool.takeRoom(payloadBytes: payload.count) else { return false }
        loopNumber = lane.number
        begin()
        lane.start(self, payload: payload)
        pool.dispatch.deadlines.note(deadlineMilliseconds)
        return true
    }

    /// Starts, on the dispatcher's loop, an invocation that was moved there from another loop.
    package final func start(movedContext context: Span<UInt8>, payload: Span<UInt8>) {
        begin()
        parked.append(context)
        parkedContextSize = context.count
        parked.append(payload)
        function.pool.dispatchAgain(self)
    }

    /// Fails it instead of starting it.
    package final func refuse(_ failure: InvocationFailure) {
        begin()
        fail(failure)
    }

    private final func begin() {
        startedNanoseconds = loop.nowNanoseconds
        function.figures.begin(on: loopNumber)
    }

    /// Moves an invocation that its worker will not start to the dispatcher's loop.
    final func moveToDispatcher() {
        function.figures.takeBack(on: loopNumber)
        startedNanoseconds = 0
        loopNumber = 0
        state = .over
        let buffer = takeParked()
        let parked = buffer.bytes
        moveToDispatcher(
            context: parked.extracting(0..<parkedContextSize), payload: parked.extracting(parkedContextSize..<parked.count))
    }

    /// Records the waiting time of an invocation that gets a worker.
    final func didWait(now: UInt64) {
        waitedNanoseconds = now &- startedNanoseconds
        function.figures.waited(nanoseconds: waitedNanoseconds, isColdStart: isColdStart)
    }

    /// Counts its end, once.
    final func end(_ outcome: InvocationOutcome) {
        state = .over
        if !parked.isEmpty { parked.clear(keepingAtMost: 0) }
        if charge.bytes != 0 { charge.set(to: 0) }
        guard startedNanoseconds != 0 else { return }
        var nanoseconds = loop.nowNanoseconds &- startedNanoseconds
        // A plugin inside the host may have answered within the turn, in which the loop's clock stands still.
        if nanoseconds == 0 { nanoseconds = EventLoop.monotonicNanoseconds() &- startedNanoseconds }
        startedNanoseconds = 0
        function.figures.end(outcome, nanoseconds: nanoseconds, on: loopNumber)
        if let tracing = function.tracing { recordSpan(outcome, nanoseconds: nanoseconds, loop: loopNumber, tracing: tracing) }
    }

    /// Cancels it because its answer is no longer awaited.
    package final func cancel() {
        switch state {
        case .running(let place):
            place.lane.cancel(place.id)
            end(InvocationOutcome(.cancelled))
        case .queued:
            end(InvocationOutcome(.cancelled))
            function.pool.forgetQueued()
        case .new, .over: end(InvocationOutcome(.cancelled))
        }
    }

    /// Acknowledges `size` bytes of chunks, which the client's socket has taken.
    package final func acknowledge(size: Int) {
        if case .running(let place) = state { place.lane.acknowledge(place.id, size: size) }
    }

    /// Fails it unless it has ended. Its worker, if any, is asked to stop working on it.
    final func fail(_ failure: InvocationFailure) {
        switch state {
        case .over: return
        case .running(let place):
            place.lane.cancel(place.id)
            end(InvocationOutcome(failure.code))
        case .new:
            // A parked invocation is new again when it has left the queue, or its worker gave it back. It has waited, so it was not refused at once.
            if !wasParked { function.figures.refuseAtOnce() }
            end(InvocationOutcome(failure.code))
        case .queued: end(InvocationOutcome(failure.code))
        }
        didFail(failure)
    }

    /// Stores the context and payload for a later start.
    ///
    /// - Returns: false if there is no memory for them.
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

    /// Counts it as one that had to wait for an instance. Only the first call counts.
    final func countAsParked() {
        guard !wasParked else { return }
        wasParked = true
        function.figures.park()
    }

    /// Charges `bytes` to the memory budget until the invocation is started or has ended.
    ///
    /// - Returns: false if there is no memory for them.
    package final func keeps(_ bytes: Int) -> Bool {
        if !charge.isBound { charge = makeCharge() }
        return charge.grow(to: bytes) == .granted
    }

    /// Removes and returns the stored context and payload.
    final func takeParked() -> ByteBuffer {
        var buffer = ByteBuffer()
        swap(&buffer, &parked)
        charge.set(to: 0)
        return buffer
    }
}

extension ByteBuffer {
    /// Appends the trace members of the context, each after a comma.
    package mutating func append(_ trace: TraceContext) {
        append(",\"trace\":\"")
        trace.appendParent(to: &self)
        append(UInt8(ascii: "\""))
        guard let state = trace.state else { return }
        append(",\"tracestate\":")
        append(jsonString: state.span)
    }
}
