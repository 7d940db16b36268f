import HearthBytes
import EventLoop

/// One request and its answer.
///
/// Belongs to its connection's loop. Whoever holds it may answer whenever it likes: when the client has gone meanwhile,
/// everything here does nothing. The server uses an exchange again for another request only when nobody holds it any
/// more, so that a reference kept too long can never answer somebody else.
public final class HTTPExchange {
    /// For the handler to find its own state by; 0 at first.
    public var tag: UInt64 = 0

    /// Who hears that the client went away or can take more. Let go when the exchange ends.
    public var observer: (any HTTPExchangeObserver)?

    var head = RequestHead()
    var body = ByteBuffer()
    var intake = BodyIntake()
    /// Counts the body, and what was made of it.
    var charge = MemoryCharge()
    /// Whether what was made of the body is held for as long as somebody has the exchange.
    var keepsCharge = false
    /// Cut off before the connection ends, and so not counted for each request.
    unowned(unsafe) var connection: HTTPConnection?
    var state = State.waiting

    enum State: Equatable {
        /// Nothing of the answer has been written.
        case waiting
        case fixed(remaining: Int)
        case chunked
        /// Delimited by the end of the connection, for HTTP/1.0.
        case untilClose
        /// The answer has no body, whatever is written.
        case bodyless
        case finished
    }

    /// Made ready for another request.
    func reset() {
        tag = 0
        state = .waiting
        keepsCharge = false
        dropBody()
        // The next request may be another client's.
        if charge.isBound { charge = MemoryCharge() }
    }

    /// Cut off from the connection: from here on everything does nothing.
    func detach() {
        state = .finished
        connection = nil
        // What it holds is let go of; the next head makes it anew.
        if intake.inflater != nil { intake.inflater = nil }
        if case .stream = intake.sink { intake.sink = .undecided }
        dropBody()
    }

    // MARK: The request

    /// What is asked to be done with the target.
    public var method: HTTPMethod { head.method }

    /// The method as it came.
    public var methodName: Span<UInt8> {
        @_lifetime(borrow self)
        get {
            let part = RequestHead.Part(offset: 0, count: head.target.offset - min(1, head.target.offset))
            return unsafe _overrideLifetime(Span(_unsafeElements: head.slice(part)), borrowing: self)
        }
    }

    /// 1 for HTTP/1.1, 0 for HTTP/1.0.
    public var minorVersion: Int { head.minorVersion }

    /// The request target as it came.
    public var target: Span<UInt8> {
        @_lifetime(borrow self)
        get { unsafe _overrideLifetime(Span(_unsafeElements: head.slice(head.target)), borrowing: self) }
    }

    /// The target's path, as it came: not decoded, beginning with `/` (or `*`).
    public var path: Span<UInt8> {
        @_lifetime(borrow self)
        get { unsafe _overrideLifetime(Span(_unsafeElements: head.slice(head.path)), borrowing: self) }
    }

    /// What follows the target's `?`; empty where there is none.
    public var query: Span<UInt8> {
        @_lifetime(borrow self)
        get { unsafe _overrideLifetime(Span(_unsafeElements: head.slice(head.query)), borrowing: self) }
    }

    /// The host, with its port, that the request is for: of the target where it names one, else of the Host field.
    public var host: Span<UInt8> {
        @_lifetime(borrow self)
        get { unsafe _overrideLifetime(Span(_unsafeElements: head.slice(head.host)), borrowing: self) }
    }

    /// The value of the first field of this name, nil where there is none.
    ///
    /// - Parameter name: in lower case; fields are found whatever their case.
    @_lifetime(borrow self)
    public func header(_ name: StaticString) -> Span<UInt8>? {
        guard let part = head.value(of: name) else { return nil }
        return unsafe _overrideLifetime(Span(_unsafeElements: head.slice(part)), borrowing: self)
    }

    /// How many fields of this name there are.
    ///
    /// - Parameter name: in lower case.
    func count(ofHeader name: StaticString) -> Int {
        (0..<head.fieldCount).count { head.slice(head.fields[$0].name).equalsIgnoringCase(lowercase: name) }
    }

    /// How many header fields there are.
    public var headerCount: Int { head.fieldCount }

    /// The name, as it was sent, of the field at `index`.
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

    /// The length of the body as the client states it (before decompression); nil where it does not, as in chunked coding.
    public var contentLength: Int? { head.contentLength >= 0 ? head.contentLength : nil }

    /// Whether a body follows the head.
    public var hasBody: Bool { head.isChunked || head.contentLength > 0 }

    /// Whether the body arrives compressed, so that there may be much more of it than ``contentLength``.
    public var isCompressed: Bool { head.contentCoding != .identity }

    /// The client's address and port; empty when it has gone.
    public var peerAddress: String { connection?.peerAddress ?? "" }

    // MARK: The body

    /// Leaves the rest of a streamed body with the client until `resumeBody`. What is already here may still be delivered.
    /// Also called when the head is handed over, to begin paused.
    public func pauseBody() {
        if case .discard = intake.sink { return }
        intake.isPaused = true
    }

    /// Goes on after `pauseBody`.
    public func resumeBody() {
        if case .discard = intake.sink { return }
        guard intake.isPaused else { return }
        intake.isPaused = false
        connection?.resumeBody()
    }
}
