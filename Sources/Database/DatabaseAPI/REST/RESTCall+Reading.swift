import EventLoop
import HearthBytes
public import HTTP
import RealtimeDatabase
import Tree

extension RESTCall {
    /// Handles GET: a value, a shallow value, the result of a query, a priority; or a stream of their changes.
    func read(_ location: Location) throws(RESTError) {
        let exchange = exchange
        guard exchange.header("if-match") == nil else { throw .badRequest("if-match is not supported with GET") }
        guard parameters.format != .strict else { throw .badRequest("format must be export") }
        var request = ReadRequest(location.path, try kind(location), principal: requester.principal)
        request.form = parameters.format == .export ? .export : .value
        request.isPretty = parameters.print == .pretty
        request.bytesMax = bytesMax(request)
        if wantsStream {
            takeTurns(&request)
            return try stream(request)
        }
        request.profiledAs = .restRead
        if let known = exchange.header("if-none-match") { request.ifNoneMatch = Self.etag(known) }
        // A silent answer contains nothing of the node, so it has no etag.
        request.wantsETag = request.ifNoneMatch != nil || wantsETag && parameters.print != .silent
        if request.wantsETag {
            guard case .value = request.kind else { throw .badRequest("ETags are not supported with this read: only plain values have one") }
        }
        if request.mayTakeLong {
            takeTurns(&request)
            exchange.observer = request.cancellation
        }
        if let milliseconds = parameters.timeoutMilliseconds {
            request.deadline = EventLoop.monotonicNanoseconds() + milliseconds * 1_000_000
        }
        do throws(DatabaseError) {
            switch try front.database.find(namespaceName, isKnown: mayBeAbsent) {
            case .absent(let absent): return didRead(absent.read(request))
            case .namespace(let namespace):
                if let outcome = namespace.readAtOnce(request, on: front.loop) { return didRead(outcome) }
                namespace.read(request, on: front.loop) { [self] in didRead($0) }
            }
        } catch {
            throw RESTError(error)
        }
        startTimeout()
    }

    /// Makes a read that may take long alternate with those of other clients, and cancels it when the client has left.
    private func takeTurns(_ request: inout ReadRequest) {
        request.client = front.settings.proxies.customer(of: exchange)
        request.cancellation = Cancellation()
    }

    /// The size limit of a read. An administrator's export has none, because it is sent piece by piece.
    private func bytesMax(_ request: ReadRequest) -> Int {
        if case .value = request.kind, case .admin = request.principal, request.form == .export { return .max }
        return front.database.limits.readBytesMax
    }

    private func kind(_ location: Location) throws(RESTError) -> ReadRequest.Kind {
        if parameters.isShallow {
            guard parameters.format == .value, parameters.callback == nil, parameters.download == nil, !location.isPriority else {
                throw .shallowMix
            }
            let page = try parameters.filter?.shallowPage()
            return .shallow(limit: page?.limit, startAfter: page?.startAfter)
        }
        guard let filter = parameters.filter else { return location.isPriority ? .priority : .value }
        guard !location.isPriority else { throw .badRequest("A priority cannot be queried") }
        return .query(try filter.query())
    }

    private func didRead(_ outcome: ReadOutcome) {
        stopTimeout()
        guard !exchange.isAnswered else {
            if case .stream(let rest) = outcome { rest.cancel() }
            return
        }
        switch outcome {
        case .value(let json, let etag, _):
            guard exchange.admits(answerOf: json.count) else { return refuse(.tooMuchIsRead) }
            answer(json: json.span, etag: etag)
        case .notModified(let etag, _): answerNotModified(etag: etag)
        case .node: refuse(RESTError(DatabaseError.stopping))
        case .refused(let error): refuse(RESTError(error))
        case .stream(let rest):
            if parameters.print == .silent {
                rest.cancel()
                answer(json: "null")
            } else if exchange.method == .head {
                // The length would only be known at the end.
                rest.cancel()
                exchange.startResponse(.ok) { writeFields(to: $0, etag: rest.etag) }
                exchange.end()
            } else if let refusal = rest.admit(client: front.settings.proxies.customer(of: exchange)) {
                refuse(RESTError(refusal))
            } else {
                var charge = exchange.answerCharge()
                guard exchange.admits(answerOf: rest.first.count), charge.grow(to: rest.heldBytes) == .granted else {
                    rest.cancel()
                    return refuse(.tooMuchIsRead)
                }
                LongAnswer(self, rest, charge).begin()
            }
        }
    }

    /// Whether the client requests the etag. Any value except `false` counts, because clients send `true`.
    var wantsETag: Bool {
        let exchange = exchange
        guard let value = exchange.header("x-firebase-etag") else { return false }
        return value.count > 0 && !value.equalsIgnoringCase(lowercase: "false")
    }

    /// An etag from a client, with or without the quotes of RFC 9110.
    static func etag(_ value: Span<UInt8>) -> String {
        guard value.count >= 2, value[0] == UInt8(ascii: "\""), value[value.count - 1] == UInt8(ascii: "\"") else { return value.string() }
        return value.extracting(1..<value.count - 1).string()
    }
}

extension Cancellation: HTTPExchangeObserver {
    public func exchangeDidClose(_ exchange: HTTPExchange) { isSet = true }
}

/// An answer that is produced piece by piece, as fast as the client takes it.
final class LongAnswer: HTTPExchangeObserver {
    private let call: RESTCall
    private let rest: ValueStream
    /// Counts the memory of the rest of the answer.
    private var charge: MemoryCharge
    private var isComplete = false {
        didSet { charge.set(to: 0) }
    }

    init(_ call: RESTCall, _ rest: ValueStream, _ charge: consuming MemoryCharge) {
        self.call = call
        self.rest = rest
        self.charge = charge
    }

    /// Sends the first piece, and arranges for the others.
    func begin() {
        let exchange = call.exchange
        exchange.observer = self
        exchange.startResponse(.ok) { call.writeFields(to: $0, etag: rest.etag) }
        if let callback = call.parameters.callback { write(Array("\(callback)(".utf8)) }
        rest.whenCut(on: call.front.loop) { [weak self] in self?.take(.failed($0)) }
        go(on: write(rest.first))
    }

    @discardableResult
    private func write(_ bytes: [UInt8]) -> HTTPFlow { call.exchange.write(bytes.span) }

    private func go(on flow: HTTPFlow) {
        guard flow == .ready, !isComplete else { return }
        rest.next(on: call.front.loop) { [self] in take($0) }
    }

    private func take(_ piece: ValueStream.Piece) {
        guard !isComplete else { return }
        let exchange = call.exchange
        switch piece {
        case .some(let bytes): go(on: exchange.write(bytes.span))
        case .last(let bytes):
            isComplete = true
            exchange.write(bytes.span)
            if call.parameters.callback != nil { write(Array(");".utf8)) }
            exchange.end()
        case .failed:
            isComplete = true
            exchange.abort()
        }
    }

    func exchangeDidDrain(_ exchange: HTTPExchange) { go(on: .ready) }

    func exchangeDidClose(_ exchange: HTTPExchange) {
        isComplete = true
        rest.cancel()
    }
}

extension RESTError {
    fileprivate static let tooMuchIsRead = RESTError(
        .serviceUnavailable, "Too many answers wait for clients that do not read them; try again")
}
