import HearthBytes

/// What a server does with requests. Called on the server's loop.
public protocol HTTPHandler: AnyObject {
    /// The head of a request is complete; its body may still be on its way.
    ///
    /// The place to refuse early, or to start what will be needed, and to say what becomes of the body.
    func head(_ exchange: HTTPExchange) -> BodyPlan

    /// The whole request is here, after ``BodyPlan/collect(limit:)``. `body` is gone after this call.
    ///
    /// Answer now, or keep `exchange` and answer later.
    func request(_ exchange: HTTPExchange, body: Span<UInt8>)

    /// What to say when the server itself refuses a request, for example with headers that a browser needs to read it.
    ///
    /// - Parameter exchange: the request, where its head was understood.
    /// - Returns: nil for a line of text.
    func errorBody(status: HTTPStatus, message: StaticString, exchange: HTTPExchange?) -> HTTPErrorBody?
}

extension HTTPHandler {
    /// A line of text.
    public func errorBody(status: HTTPStatus, message: StaticString, exchange: HTTPExchange?) -> HTTPErrorBody? { nil }
}

/// What becomes of a request's body.
public enum BodyPlan {
    /// Gathered, and given to ``HTTPHandler/request(_:body:)``; refused with 413 when longer than `limit` bytes.
    case collect(limit: Int)
    /// Given on piece by piece as it arrives.
    case stream(any HTTPBodyReceiver)
    /// Not wanted, because the request is answered, or will be without it.
    case answered
}

/// Takes a body piece by piece. A receiver that cannot keep up calls ``HTTPExchange/pauseBody()``.
public protocol HTTPBodyReceiver: AnyObject {
    /// Some of the body, decompressed. The bytes are gone after this call.
    func exchange(_ exchange: HTTPExchange, didReceive bytes: Span<UInt8>)
    /// The body is complete. When it never will be, the exchange's observer hears that the exchange closed instead.
    func exchangeDidReceiveAll(_ exchange: HTTPExchange)
}

/// Hears what happens to an exchange while its answer is being made.
public protocol HTTPExchangeObserver: AnyObject {
    /// What was written has mostly left, after ``HTTPFlow/congested`` was returned.
    func exchangeDidDrain(_ exchange: HTTPExchange)
    /// The client went away, or was refused, before the answer was complete. Whatever is written from now on is dropped.
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
    /// Nobody is there to read it.
    case closed
}

/// The content of an answer that refuses.
public struct HTTPErrorBody: Sendable {
    /// The value of Content-Type.
    public var contentType: String
    /// Further header fields.
    public var fields: [(name: String, value: String)]
    /// The body itself.
    public var body: [UInt8]

    /// Content of this type, without further fields unless given.
    public init(contentType: String, fields: [(name: String, value: String)] = [], body: [UInt8]) {
        self.contentType = contentType
        self.fields = fields
        self.body = body
    }
}

/// The protocol that a connection speaks after an upgrade, such as a `WebSocket`. The connection calls it on its loop.
protocol UpgradedProtocol: AnyObject {
    /// Bytes of messages that are not complete yet. The connection charges them to the memory budget.
    var unfinishedBytes: Int { get }
    /// Takes all of the bytes.
    func receive(_ bytes: UnsafeBufferPointer<UInt8>)
    /// Most of the outbox has been sent.
    func didDrain()
    /// Ends the connection because no memory is left for the unfinished message.
    func giveUp()
    /// Checks deadlines. Called from time to time with the loop's clock in milliseconds.
    func check(_ now: UInt64)
    /// The connection has closed. The last call.
    func connectionDidEnd()
}
