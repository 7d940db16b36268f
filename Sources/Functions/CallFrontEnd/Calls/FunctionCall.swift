import EventLoop
import FunctionDispatch
import FunctionWorker
import HearthBytes
import HearthJSON
import HTTP
import WorkerProtocol

/// The invocation for an HTTP request. Belongs to the loop of the request's connection.
class FunctionCall: HostInvocation, HTTPExchangeObserver {
    final let exchange: HTTPExchange
    /// Exists as long as the loop, so calls need not count references to it.
    final unowned(unsafe) let frontEnd: FunctionFrontEnd
    /// The index in the request's path where the function's own part begins.
    private let ownPathStart: Int
    /// The counterpart of the call on the dispatcher's loop, if it was relayed there.
    private var relay: LoopBound<RelayedInvocation>?
    /// Bytes of chunks that were not yet acknowledged to the worker: the client's socket has not taken them, or they were too few.
    private var unacknowledgedBytes = 0
    private var isCongested = false

    init(function: RegisteredFunction, exchange: HTTPExchange, ownPathStart: Int, frontEnd: FunctionFrontEnd) {
        self.exchange = exchange
        self.frontEnd = frontEnd
        self.ownPathStart = ownPathStart
        super.init(function: function, loop: frontEnd.loop)
        isContextRaw = true
    }

    // MARK: Starting and stopping

    /// Starts the call on a worker that has room, or passes it to the dispatcher's loop.
    final func begin(payload: Span<UInt8>) {
        exchange.observer = self
        trace = frontEnd.traces.next(for: exchange)
        deadlineMilliseconds = frontEnd.loop.nowMilliseconds + function.timeoutMilliseconds
        let number = frontEnd.loopNumber
        if number == 0 { return start(payload: payload) }
        let lanes = function.pool.lanes
        if number <= lanes.count, start(payload: payload, on: lanes[number - 1].value) { return }
        relay = RelayedInvocation.start(self, payload: payload)
    }

    override final func moveToDispatcher(context: Span<UInt8>, payload: Span<UInt8>) {
        relay = RelayedInvocation.move(self, context: context, payload: payload)
    }

    /// The loop that accepted the call.
    final var origin: EventLoop { frontEnd.loop }

    override func makeCharge() -> MemoryCharge { exchange.requestCharge() }

    /// Releases the relay once it sends nothing more. Until then call and relay keep each other alive.
    final func relayDidEnd() { relay = nil }

    /// Cancels the call because the client has left.
    func exchangeDidClose(_ exchange: HTTPExchange) {
        if let relay {
            let loop = function.pool.dispatcher.loop
            loop.post { relay.value.cancel() }
            relinquish()
            relayDidEnd()
        } else {
            cancel()
        }
    }

    // MARK: Flow of chunks

    /// Sends a part of the answer, and acknowledges chunks to the worker as fast as the client reads.
    ///
    /// - Parameter size: the number of bytes to acknowledge to the worker.
    final func send(_ bytes: Span<UInt8>, size: Int) {
        unacknowledgedBytes += size
        switch exchange.write(bytes) {
        case .congested:
            isCongested = true
            // The function does not wait for acknowledgements, and its chunks would fill the host's memory.
            if exchange.isBehind(by: OpenInvocations.windowBytes) { cutOff() }
        case .ready: if unacknowledgedBytes >= OpenInvocations.windowBytes / 4 { acknowledgeAll() }
        case .closed: break
        }
    }

    private func cutOff() {
        let exchange = exchange
        exchange.abort()
        exchangeDidClose(exchange)
    }

    func exchangeDidDrain(_ exchange: HTTPExchange) {
        isCongested = false
        acknowledgeAll()
    }

    private func acknowledgeAll() {
        guard unacknowledgedBytes > 0 else { return }
        let size = unacknowledgedBytes
        unacknowledgedBytes = 0
        if let relay {
            function.pool.dispatcher.loop.post { relay.value.acknowledge(size: size) }
        } else {
            acknowledge(size: size)
        }
    }

    // MARK: The context

    /// Appends the context in its raw form: the head of the request in one piece, and what ``writeCaller(into:)`` adds.
    override final func writeContext(into buffer: inout ByteBuffer) {
        let exchange = exchange
        let head = exchange.rawHead
        var context = RawContext()
        context.method = RawContext.Part(head.method)
        context.fieldCount = exchange.headerCount
        if !head.query.isEmpty { context.query = RawContext.Part(head.query) }
        if let trace { context.trace = RawContext.Trace(high: trace.id.high, low: trace.id.low, span: trace.span, isSampled: trace.isSampled) }
        let start = buffer.count
        buffer.reserve(RawContext.headSize + context.fieldCount * RawContext.fieldSize + head.size + 64)
        buffer.appendZeros(RawContext.headSize)
        exchange.appendFieldPositions(to: &buffer)
        let text = buffer.count
        exchange.appendHead(to: &buffer)
        let ownPath = min(head.path.lowerBound + ownPathStart, head.path.upperBound)..<head.path.upperBound
        if ownPath.isEmpty {
            context.path = buffer.add(since: text) { $0.append(UInt8(ascii: "/")) }
        } else {
            context.path = RawContext.Part(ownPath)
        }
        context.peer = buffer.add(since: text) { $0.append(exchange.peerAddress) }
        if let state = trace?.state { context.tracestate = buffer.add(since: text) { $0.append(state) } }
        let caller = buffer.add(since: text) { writeCaller(into: &$0) }
        if caller.size > 0 { context.caller = caller }
        context.textSize = buffer.count - text
        context.write(to: &buffer, at: start)
    }

    /// Appends further members of the context, each with a comma before it. For subclasses.
    func writeCaller(into buffer: inout ByteBuffer) {}
}

extension RawContext.Part {
    fileprivate init(_ range: Range<Int>) { self.init(offset: UInt32(range.lowerBound), size: UInt32(range.count)) }
}

extension ByteBuffer {
    /// Appends what `body` does; the part that it is of the text that begins at `text`.
    fileprivate mutating func add(since text: Int, _ body: (inout ByteBuffer) -> Void) -> RawContext.Part {
        let start = count
        body(&self)
        return RawContext.Part(offset: UInt32(start - text), size: UInt32(count - start))
    }

    fileprivate mutating func appendZeros(_ size: Int) {
        appendUninitialized(minimum: size) { room in
            for index in 0..<size { room[index] = 0 }
            return size
        }
    }
}
