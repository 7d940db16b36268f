import HearthBytes

/// Answers the requests of a server. Called on the server's loop.
public protocol HTTPHandler: AnyObject {
    /// The head of a request is complete; its body may not have arrived.
    ///
    /// Refuse early here, or start preparations, and choose the plan for the body.
    func head(_ exchange: HTTPExchange) -> BodyPlan

    /// The whole request has arrived, after ``BodyPlan/collect(limit:)``. `body` is valid only during this call.
    ///
    /// Answer now, or keep `exchange` and answer later.
    func request(_ exchange: HTTPExchange, body: Span<UInt8>)

    /// The body of an answer with which the server itself refuses a request, for example with headers that a browser needs to read it.
    ///
    /// - Parameter exchange: the request, if its head was understood.
    /// - Returns: nil for a line of text.
    func errorBody(status: HTTPStatus, message: StaticString, exchange: HTTPExchange?) -> HTTPErrorBody?
}

extension HTTPHandler {
    /// A line of text.
    public func errorBody(status: HTTPStatus, message: StaticString, exchange: HTTPExchange?) -> HTTPErrorBody? { nil }
}

/// The treatment of a request's body.
public enum BodyPlan {
    /// Collect the body and pass it to ``HTTPHandler/request(_:body:)``; refuse it with 413 if it exceeds `limit` bytes.
    case collect(limit: Int)
    /// Pass each piece on as it arrives.
    case stream(any HTTPBodyReceiver)
    /// Discard the body: the request is answered, or will be without it.
    case answered
}

/// Receives a body in pieces. A receiver that cannot keep up calls ``HTTPExchange/pauseBody()``.
public protocol HTTPBodyReceiver: AnyObject {
    /// A piece of the body, decompressed. The bytes are valid only during this call.
    func exchange(_ exchange: HTTPExchange, didReceive bytes: Span<UInt8>)
    /// The body is complete. If it cannot be completed, the exchange's observer is notified that the exchange closed instead.
    func exchangeDidReceiveAll(_ exchange: HTTPExchange)
}

/// Notified about an exchange while its answer is being made.
public protocol HTTPExchangeObserver: AnyObject {
    /// Most of the queued data has been sent, after ``HTTPFlow/congested`` was returned.
    func exchangeDidDrain(_ exchange: HTTPExchange)
    /// The client has left, or was refused, before the answer was complete. Further writes are dropped.
    func exchangeDidClose(_ exchange: HTTPExchange)
}

extension HTTPExchangeObserver {
    /// Does nothing.
    public func exchangeDidDrain(_ exchange: HTTPExchange) {}
}

/// Whether more of an answer should be written now.
public enum HTTPFlow: Sendable {
    /// Go on.
    case ready
    /// Wait for ``HTTPExchangeObserver/exchangeDidDrain(_:)``.
    case congested
    /// The client has left.
    case closed
}

/// The body of an answer that refuses a request.
public struct HTTPErrorBody: Sendable {
    /// The value of Content-Type.
    public var contentType: String
    /// Further header fields.
    public var fields: [(name: String, value: String)]
    /// The body itself.
    public var body: [UInt8]

    /// A body of this type, without further fields by default.
    public init(contentType: String, fields: [(name: String, value: String)] = [], body: [UInt8]) {
        self.contentType = contentType
        self.fields = fields
        self.body = body
    }
}

/// A protocol that clients can speak from the first byte of a connection, instead of HTTP/1.1.
protocol AlternativeProtocol: AnyObject {
    /// The bytes that such a client begins with.
    var preface: StaticString { get }
    /// Speaks the protocol on a connection from which nothing has been used yet.
    func start(on connection: HTTPConnection) -> any UpgradedProtocol
}

/// The protocol that a connection speaks after an upgrade or from its beginning, such as a `WebSocket`. The connection calls it on its loop.
protocol UpgradedProtocol: AnyObject {
    /// Whether further bytes wait, because the messages before them are still being handled.
    var isPaused: Bool { get }
    /// Bytes of messages that are not complete yet. The connection charges them to the memory budget.
    var unfinishedBytes: Int { get }
    /// Whether requests are unanswered.
    var isBusy: Bool { get }
    /// Takes all of the bytes.
    func receive(_ bytes: UnsafeBufferPointer<UInt8>)
    /// Most of the outbox has been sent.
    func didDrain()
    /// Appends to the outbox, which is about to be sent, if the stream is set to ask.
    ///
    /// - Returns: whether there is more for the next time.
    func fillOutbox() -> Bool
    /// No request may start until the server goes on or releases its connections.
    func hold()
    /// Ends the connection because no memory is left for the unfinished message.
    func giveUp()
    /// Checks deadlines. Called from time to time with the loop's clock in milliseconds.
    func check(_ now: UInt64)
    /// The connection has closed. The last call.
    func connectionDidEnd()
}

extension UpgradedProtocol {
    var isBusy: Bool { false }
    func fillOutbox() -> Bool { false }
    func hold() {}
}
