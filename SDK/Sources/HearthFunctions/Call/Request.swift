internal import HearthBytes
internal import HearthJSON

/// A request to a plain HTTP function.
public struct Request: Sendable {
    /// Method, path, query and headers.
    public let rawRequest: RawRequest
    /// The body's bytes, decompressed where the client had compressed them.
    public let body: [UInt8]
    /// The parameters of the path of the route, decoded; empty outside a ``Router``.
    public internal(set) var parameters: [String: String] = [:]
    /// The values that middlewares have added, by type.
    var values: [ObjectIdentifier: any Sendable] = [:]
    let invocation: Invocation

    init(_ invocation: Invocation) {
        self.invocation = invocation
        self.rawRequest = RawRequest(invocation)
        self.body = invocation.withPayload { $0.array() }
    }

    /// "GET", "POST", ...
    public var method: String { rawRequest.method }
    /// The path behind the function's name; "/" where there is none.
    public var path: String { rawRequest.path }
    /// The query as sent, without "?"; nil where there is none.
    public var query: String? { rawRequest.query }
    /// The parts of the query, decoded, in the order sent.
    public var queryItems: [QueryItem] { rawRequest.queryItems }
    /// In the order sent, names in lower case.
    public var headers: Headers { rawRequest.headers }

    /// The body as text. Invalid UTF-8 is replaced.
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

    /// The call's place in a trace, as a W3C `traceparent`, to be sent along with requests to other systems.
    public var traceparent: String? { rawRequest.traceparent }

    /// The time at which the caller gets status 504 and the task is cancelled; nil for never.
    public var deadline: ContinuousClock.Instant? { invocation.deadline }
}

/// The HTTP request under a call, without its body.
public struct RawRequest: Sendable {
    private let invocation: Invocation
    private var context: CallContext { invocation.context }

    init(_ invocation: Invocation) { self.invocation = invocation }

    /// "GET", "POST", ...
    public var method: String { context.method }
    /// The path behind the function's name; "/" where there is none.
    public var path: String { context.path }
    /// The query as sent, without "?"; nil where there is none.
    public var query: String? { context.query }
    /// In the order sent, names in lower case.
    public var headers: Headers { Headers(alternating: context.headerTexts) }
    /// The client's address, such as "127.0.0.1:50000".
    public var peer: String? { context.peer }
    /// The call's place in a trace, as a W3C `traceparent`, to be sent along with requests to other systems.
    public var traceparent: String? { context.traceparent }
    /// The W3C `tracestate` of the trace, to be sent on with ``traceparent``.
    public var tracestate: String? { context.tracestate }
    /// The parts of the query, decoded, in the order sent.
    public var queryItems: [QueryItem] { QueryItem.parse(query ?? "") }
}

/// One `name=value` of a query, decoded.
public struct QueryItem: Sendable, Equatable {
    /// The name.
    public var name: String
    /// The value; empty where the query has the name alone.
    public var value: String

    static func parse(_ query: String) -> [QueryItem] {
        query.utf8.split(separator: UInt8(ascii: "&")).map { part in
            let equals = part.firstIndex(of: UInt8(ascii: "=")) ?? part.endIndex
            return QueryItem(name: decode(part[..<equals]), value: decode(part[equals...].dropFirst()))
        }
    }

    /// Turns `+` into a space and `%41` into its byte. A `%` without two hexadecimal digits stays.
    private static func decode(_ text: Substring.UTF8View) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var rest = text
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "+") {
                bytes.append(UInt8(ascii: " "))
            } else if byte == UInt8(ascii: "%"), let value = escaped(rest.prefix(2)) {
                bytes.append(value)
                rest.removeFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func escaped(_ digits: Substring.UTF8View) -> UInt8? {
        guard digits.count == 2, digits.first != UInt8(ascii: "+") else { return nil }
        return UInt8(Substring(digits), radix: 16)
    }
}
