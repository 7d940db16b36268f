import EventLoop
import FunctionDispatch
import FunctionWorker
import HearthBytes
import HearthJSON
import HTTP
import WorkerProtocol

/// An invocation that an HTTP request asked for. Belongs to the loop of the request's connection.
class FunctionCall: HostInvocation, HTTPExchangeObserver {
    final let exchange: HTTPExchange
    /// Lives as long as its loop, and so is not counted for each call.
    final unowned(unsafe) let frontEnd: FunctionFrontEnd
    /// Where in the request's path the function's own part begins.
    private let ownPathStart: Int
    /// The dispatcher's end of a call whose connection is on another loop.
    private var relay: LoopBound<RelayedInvocation>?
    /// Bytes of chunks that the client's socket has not taken, or of which the worker was not told.
    private var unacknowledgedBytes = 0
    private var isCongested = false

    init(function: RegisteredFunction, exchange: HTTPExchange, ownPathStart: Int, frontEnd: FunctionFrontEnd) {
        self.exchange = exchange
        self.frontEnd = frontEnd
        self.ownPathStart = ownPathStart
        super.init(function: function)
    }

    // MARK: Starting and stopping

    /// Hands the call to the dispatcher, wherever that is.
    final func begin(payload: Span<UInt8>) {
        exchange.observer = self
        trace = frontEnd.traces.next(for: exchange)
        deadlineMilliseconds = frontEnd.loop.nowMilliseconds + function.timeoutMilliseconds
        if frontEnd.isHome { return start(payload: payload) }
        relay = RelayedInvocation.start(self, payload: payload, on: function.pool.dispatcher.loop, from: frontEnd.loop)
    }

    override func makeCharge() -> MemoryCharge { exchange.requestCharge() }

    /// Nothing more comes from the dispatcher's loop. The two ends hold each other until then.
    final func relayDidEnd() { relay = nil }

    /// The client has gone.
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

    /// Sends a part of the answer, and lets the worker go on as fast as the client reads.
    ///
    /// - Parameter size: what the worker counts it as.
    final func send(_ bytes: Span<UInt8>, size: Int) {
        unacknowledgedBytes += size
        switch exchange.write(bytes) {
        case .congested:
            isCongested = true
            // A function that does not wait fills the host's memory for a client that does not read.
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

    /// Appends what hearth.h says of every call, then what ``writeCaller(into:)`` adds.
    override final func writeContext(into buffer: inout ByteBuffer) {
        let exchange = exchange
        buffer.append("{\"method\":\"")
        buffer.append(exchange.methodName)
        buffer.append("\",\"path\":")
        writePath(into: &buffer)
        let query = exchange.query
        if query.count > 0 {
            buffer.append(",\"query\":")
            buffer.append(jsonString: query)
        }
        buffer.append(",\"headers\":[")
        for index in 0..<exchange.headerCount {
            if index > 0 { buffer.append(UInt8(ascii: ",")) }
            buffer.append(lowercasedName: exchange.headerName(at: index))
            buffer.append(jsonString: exchange.headerValue(at: index))
        }
        buffer.append("],\"peer\":\"")
        buffer.append(exchange.peerAddress)
        buffer.append(UInt8(ascii: "\""))
        if let trace { buffer.append(trace) }
        writeCaller(into: &buffer)
        buffer.append(UInt8(ascii: "}"))
    }

    /// Appends members, each beginning with a comma.
    func writeCaller(into buffer: inout ByteBuffer) {}

    private func writePath(into buffer: inout ByteBuffer) {
        let exchange = exchange
        let path = exchange.path
        if ownPathStart >= path.count {
            buffer.append("\"/\"")
        } else {
            buffer.append(jsonString: path.extracting(ownPathStart..<path.count))
        }
    }
}

extension ByteBuffer {
    /// Appends a header's name in lower case, quoted, and a comma. A name is a token, so that nothing needs an escape.
    mutating func append(lowercasedName name: Span<UInt8>) {
        append(UInt8(ascii: "\""))
        name.withUnsafeBufferPointer { name in
            appendUninitialized(minimum: name.count + 1) { room in
                guard let target = room.baseAddress, let source = UnsafeRawPointer(name.baseAddress) else { return 0 }
                var index = 0
                while index + 4 <= name.count {
                    let word = source.loadUnaligned(fromByteOffset: index, as: UInt32.self)
                    target.storeBytes(of: word.lowercasedBytes, toByteOffset: index, as: UInt32.self)
                    index += 4
                }
                while index < name.count {
                    target.storeBytes(of: name[index].lowercased, toByteOffset: index, as: UInt8.self)
                    index += 1
                }
                return name.count
            }
        }
        append("\",")
    }
}

extension UInt32 {
    /// Four bytes, each in lower case where it is an ASCII letter: the top bit of a byte marks a capital, and a quarter of it
    /// is what a small letter has more.
    var lowercasedBytes: UInt32 {
        let heptets = self & 0x7F7F_7F7F
        let beyondZ = heptets &+ 0x2525_2525
        let fromA = heptets &+ 0x3F3F_3F3F
        return self | ((~self & 0x8080_8080 & (fromA ^ beyondZ)) >> 2)
    }
}
