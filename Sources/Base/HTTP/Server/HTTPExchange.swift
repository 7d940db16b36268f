import HearthBytes
import EventLoop

/// One request and its answer.
///
/// Belongs to the loop of its connection. The holder may answer at any time; after the client has left, all functions do nothing. The
/// server reuses an exchange only when nothing else refers to it, so that a stale reference can never answer another request.
public final class HTTPExchange {
    /// For use by the handler, to find its own state; initially 0.
    public var tag: UInt64 = 0

    /// Notified when the client has left or can take more. Released when the exchange ends.
    public var observer: (any HTTPExchangeObserver)?

    var head = RequestHead()
    var body = ByteBuffer()
    var intake = BodyIntake()
    /// Charge for the body and data made from it.
    var charge = MemoryCharge()
    /// Whether the data made from the body stays charged as long as the exchange is referenced.
    var keepsCharge = false
    /// Unowned without reference counting, for speed: cleared before the connection ends.
    unowned(unsafe) var connection: HTTPConnection?
    /// Takes the place of the connection if the connection has several exchanges at a time. Cleared like `connection`.
    unowned(unsafe) var carrier: (any ExchangeCarrier)?
    var state = State.waiting

    enum State: Equatable {
        /// No part of the answer has been written.
        case waiting
        case fixed(remaining: Int)
        case chunked
        /// Delimited by the end of the connection, for HTTP/1.0.
        case untilClose
        /// The answer has no body, whatever is written.
        case bodyless
        case finished
    }

    /// Prepares the exchange for another request.
    func reset() {
        tag = 0
        state = .waiting
        keepsCharge = false
        dropBody()
        // The next request may come from another client.
        if charge.isBound { charge = MemoryCharge() }
    }

    /// Detaches the exchange from its connection: from now on all functions do nothing.
    func detach() {
        state = .finished
        connection = nil
        carrier = nil
        // Release its buffers; the next head creates them anew.
        if intake.inflater != nil { intake.inflater = nil }
        if case .stream = intake.sink { intake.sink = .undecided }
        dropBody()
    }

    // MARK: The request

    /// The request method.
    public var method: HTTPMethod { head.method }

    /// The method, verbatim.
    public var methodName: Span<UInt8> {
        @_lifetime(borrow self)
        get {
            let part = RequestHead.Part(offset: 0, count: head.target.offset - min(1, head.target.offset))
            return unsafe _overrideLifetime(Span(_unsafeElements: head.slice(part)), borrowing: self)
        }
    }

    /// 1 for HTTP/1.1 and HTTP/2, 0 for HTTP/1.0.
    public var minorVersion: Int { head.minorVersion }

    /// The request target, verbatim.
    public var target: Span<UInt8> {
        @_lifetime(borrow self)
        get { unsafe _overrideLifetime(Span(_unsafeElements: head.slice(head.target)), borrowing: self) }
    }

    /// The path of the target, verbatim: not decoded, beginning with `/` (or `*`).
    public var path: Span<UInt8> {
        @_lifetime(borrow self)
        get { unsafe _overrideLifetime(Span(_unsafeElements: head.slice(head.path)), borrowing: self) }
    }

    /// The query of the target, after `?`; empty if there is none.
    public var query: Span<UInt8> {
        @_lifetime(borrow self)
        get { unsafe _overrideLifetime(Span(_unsafeElements: head.slice(head.query)), borrowing: self) }
    }

    /// The host, with port, that the request is for: the one of the target if it has one, otherwise the Host field.
    public var host: Span<UInt8> {
        @_lifetime(borrow self)
        get { unsafe _overrideLifetime(Span(_unsafeElements: head.slice(head.host)), borrowing: self) }
    }

    /// The value of the first field with this name; nil if there is none.
    ///
    /// - Parameter name: in lower case; the case of the field's name does not matter.
    @_lifetime(borrow self)
    public func header(_ name: StaticString) -> Span<UInt8>? {
        guard let part = head.value(of: name) else { return nil }
        return unsafe _overrideLifetime(Span(_unsafeElements: head.slice(part)), borrowing: self)
    }

    /// The number of fields with this name.
    ///
    /// - Parameter name: in lower case.
    func count(ofHeader name: StaticString) -> Int {
        (0..<head.fieldCount).count { head.slice(head.fields[$0].name).equalsIgnoringCase(lowercase: name) }
    }

    /// The number of header fields.
    public var headerCount: Int { head.fieldCount }

    /// The name of the field at `index`, verbatim.
    @_lifetime(borrow self)
    public func headerName(at index: Int) -> Span<UInt8> {
        precondition(index >= 0 && index < head.fieldCount)
        return unsafe _overrideLifetime(Span(_unsafeElements: head.slice(head.fields[index].name)), borrowing: self)
    }

    /// The value of the field at `index`.
    @_lifetime(borrow self)
    public func headerValue(at index: Int) -> Span<UInt8> {
        precondition(index >= 0 && index < head.fieldCount)
        return unsafe _overrideLifetime(Span(_unsafeElements: head.slice(head.fields[index].value)), borrowing: self)
    }

    /// The positions of the parts of the head, for code that passes the head on as a whole.
    public var rawHead: RawHead { RawHead(head) }

    /// Appends the bytes of the head, in which the positions of ``rawHead`` count.
    public func appendHead(to buffer: inout ByteBuffer) { buffer.append(UnsafeRawBufferPointer(start: head.bytes, count: head.count)) }

    /// Appends the positions of each header field: offset and size of its name and of its value, 32 bits each, little-endian.
    public func appendFieldPositions(to buffer: inout ByteBuffer) {
        for index in 0..<head.fieldCount {
            let field = head.fields[index]
            buffer.append(littleEndian: UInt64(field.name.count) << 32 | UInt64(field.name.offset))
            buffer.append(littleEndian: UInt64(field.value.count) << 32 | UInt64(field.value.offset))
        }
    }

    /// The positions of the parts of a head.
    public struct RawHead {
        /// Bytes of the head.
        public let size: Int
        public let method: Range<Int>
        public let path: Range<Int>
        /// Empty where there is none.
        public let query: Range<Int>

        fileprivate init(_ head: borrowing RequestHead) {
            func range(_ part: RequestHead.Part) -> Range<Int> { Int(part.offset)..<Int(part.offset) + Int(part.count) }
            size = head.count
            method = 0..<Int(head.target.offset - min(1, head.target.offset))
            path = range(head.path)
            query = range(head.query)
        }
    }

    /// The declared length of the body, before decompression; nil for chunked coding.
    public var contentLength: Int? { head.contentLength >= 0 ? head.contentLength : nil }

    /// Whether a body follows the head.
    public var hasBody: Bool { head.isChunked || head.contentLength > 0 }

    /// Whether the body is compressed, so that its size may exceed ``contentLength`` by far.
    public var isCompressed: Bool { head.contentCoding != .identity }

    /// The client's address and port; empty after it has left.
    public var peerAddress: String { connection?.peerAddress ?? carrier?.peerAddress ?? "" }

    // MARK: The body

    /// Pauses a streamed body until `resumeBody`. Data that is already here may still be delivered. Call it for a new head to begin paused.
    public func pauseBody() {
        if case .discard = intake.sink { return }
        intake.isPaused = true
    }

    /// Continues after `pauseBody`.
    public func resumeBody() {
        if case .discard = intake.sink { return }
        guard intake.isPaused else { return }
        intake.isPaused = false
        if let connection { connection.resumeBody() } else { carrier?.resumeBody() }
    }
}
