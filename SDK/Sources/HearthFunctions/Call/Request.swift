internal import HearthBytes
internal import HearthJSON

/// A request to a plain HTTP function.
public struct Request: Sendable {
    /// Method, path, query and headers.
    public let rawRequest: RawRequest
    /// The body's bytes, decompressed where the client had compressed them.
    public let body: [UInt8]
    let invocation: Invocation

    init(_ invocation: Invocation) {
        self.invocation = invocation
        self.rawRequest = RawRequest(invocation)
        self.body = invocation.withPayload { $0.array() }
    }

    /// "GET", "POST", ...
    public var method: String { rawRequest.method }
    /// What follows the function's name; "/" when nothing does.
    public var path: String { rawRequest.path }
    /// What follows "?", as sent; nil without one.
    public var query: String? { rawRequest.query }
    /// The parts of the query, decoded, in the order sent.
    public var queryItems: [QueryItem] { rawRequest.queryItems }
    /// In the order sent, names in lower case.
    public var headers: Headers { rawRequest.headers }

    /// The body as text; what is not UTF-8 is replaced.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// The body as JSON. Throws `invalid-argument` where it is not.
    public func json() throws(HttpsError) -> JSONValue {
        do {
            return try JSONValue(parsing: body)
        } catch {
            throw HttpsError(.invalidArgument, "The body is not valid JSON: \(error)")
        }
    }

    /// The body as a value of type `T`. Throws `invalid-argument` where it is not JSON of that shape.
    public func decode<T: Decodable>(_ type: T.Type = T.self) throws(HttpsError) -> T {
        do {
            return try JSONDecoder().decode(type, from: body)
        } catch {
            throw HttpsError(.invalidArgument, shapeProblem(error, root: "body"))
        }
    }

    /// The call's place in a trace, as a W3C `traceparent`: what the function asks of other systems goes on with it.
    public var traceparent: String? { rawRequest.traceparent }

    /// When the caller is answered 504 and the task is cancelled; nil for never.
    public var deadline: ContinuousClock.Instant? { invocation.deadline }
}
