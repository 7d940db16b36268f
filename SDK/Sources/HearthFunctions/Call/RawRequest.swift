/// The HTTP request under a call, without its body.
public struct RawRequest: Sendable {
    private let invocation: Invocation
    private var context: CallContext { invocation.context }

    init(_ invocation: Invocation) { self.invocation = invocation }

    /// "GET", "POST", ...
    public var method: String { context.method }
    /// What follows the function's name; "/" when nothing does.
    public var path: String { context.path }
    /// What follows "?", as sent; nil without one.
    public var query: String? { context.query }
    /// In the order sent, names in lower case.
    public var headers: Headers { context.headers }
    /// The client's address, such as "127.0.0.1:50000".
    public var peer: String? { context.peer }
    /// The call's place in a trace, as a W3C `traceparent`: what the function asks of other systems goes on with it.
    public var traceparent: String? { context.traceparent }
    /// What other systems said of the trace, to be sent on with ``traceparent``.
    public var tracestate: String? { context.tracestate }
    /// The parts of the query, decoded, in the order sent.
    public var queryItems: [QueryItem] { QueryItem.parse(query ?? "") }
}
