internal import HearthJSON
internal import Synchronization

/// Requests to other servers.
///
///     let answer = try await http.get("https://api.example.com/weather?city=Bern", headers: ["Accept": "application/json"])
///     guard answer.isSuccess else { throw HttpsError(.unavailable, "The weather service answered \(answer.status).") }
///     let weather = try answer.decode(Weather.self)
///
/// A request ends with the call that it is sent for: it never takes longer than the call may, and is cancelled with it. It carries the
/// `traceparent` of the call. Connections are kept for later requests. Private networks and this machine are out of reach unless the function's
/// option `allowedHosts`, or `functions.json`, names them.
public let http = HTTP()

/// Sends requests to other servers, on the loop of the function's worker.
public struct HTTP: Sendable {
    private static let lastID = Atomic<UInt64>(0)

    init() {}

    /// Fetches an address.
    public func get(_ url: String, headers: Headers = [:]) async throws(HTTPError) -> HTTPResponse {
        try await send(HTTPRequest(url: url, headers: headers))
    }

    /// Sends a body to an address with `POST`.
    public func post(_ url: String, headers: Headers = [:], body: [UInt8]) async throws(HTTPError) -> HTTPResponse {
        try await send(HTTPRequest(method: "POST", url: url, headers: headers, body: body))
    }

    /// Sends a request and waits for the whole answer, whatever its status.
    ///
    /// - Throws: `HTTPError` if there is no answer, or none that the function may have.
    public func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        let invocation = Attachment.current?.attributedInvocation
        var seconds = request.timeoutSeconds
        if let deadline = invocation?.deadline {
            let left = ContinuousClock.now.duration(to: deadline).components
            seconds = min(seconds, Double(left.seconds) + Double(left.attoseconds) / 1e18)
        }
        guard seconds > 0 else { throw HTTPError(.timeout, "The time of the call is over.") }
        let id = "\(HTTP.lastID.add(1, ordering: .relaxed).newValue)"
        let payload = request.payload(id: id, seconds: seconds, for: invocation?.context)
        let end: JSONValue = ["id": .string(id)]
        let answer = await services.answer("http", "send", payload, whenCancelled: ("cancel", end.serialized()))
        guard answer.isOK else { throw HTTPError(failure: (try? answer.value) ?? .null) }
        guard let response = HTTPResponse(answer.body) else { throw HTTPError(.unavailable, "The answer of the service http is not understood.") }
        return response
    }
}

/// A request to another server.
public struct HTTPRequest: Sendable {
    /// `GET`, `POST`, ...
    public var method: String
    /// An absolute `http:` or `https:` URL without user and password.
    public var url: String
    /// Further headers. `Host`, `Content-Length` and others that belong to the connection are refused. `traceparent` and `tracestate` of the
    /// call are added unless they are given.
    public var headers: Headers
    /// The body; nil sends none.
    public var body: [UInt8]?
    /// The time for everything: redirects, further attempts and the pauses between them. Cut to the time that the call has left.
    public var timeoutSeconds: Double
    /// Further attempts, at most 10, if there is no connection, the connection breaks, or the status is 429, 502, 503 or 504. For `GET`, `HEAD`,
    /// `PUT`, `DELETE` and `OPTIONS` only. Pauses double from 0.1 seconds on; `Retry-After` of the server is respected.
    public var retries: Int
    /// Redirects to follow, at most 20; 0 returns a redirect as the answer. Another host gets neither `Authorization`, cookies nor other headers
    /// that may be secret. A redirect from `https:` to `http:` fails.
    public var redirects: Int
    /// The largest body of the answer, if less than the host allows (`http.responseBytesMax`).
    public var responseBytesMax: Int?

    /// A request, by default one attempt within 30 seconds with up to 5 redirects.
    public init(
        method: String = "GET", url: String, headers: Headers = [:], body: [UInt8]? = nil, timeoutSeconds: Double = 30, retries: Int = 0,
        redirects: Int = 5, responseBytesMax: Int? = nil
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.timeoutSeconds = timeoutSeconds
        self.retries = retries
        self.redirects = redirects
        self.responseBytesMax = responseBytesMax
    }

    /// Sets the body to a value as JSON, and its type unless a `Content-Type` is given.
    public mutating func setBody(json value: some Encodable) throws {
        body = try JSONEncoder().encode(value)
        if headers["content-type"] == nil { headers["Content-Type"] = "application/json" }
    }

    /// The payload of the service: a JSON object, and after a zero byte the body.
    fileprivate func payload(id: String, seconds: Double, for context: CallContext?) -> [UInt8] {
        var headers = headers
        if headers["traceparent"] == nil, let trace = context?.traceparent {
            headers.append("traceparent", trace)
            if headers["tracestate"] == nil, let state = context?.tracestate { headers.append("tracestate", state) }
        }
        var members: JSONObject = [
            "id": .string(id), "method": .string(method), "url": .string(url), "timeoutSeconds": .double(seconds),
            "retries": .int(Int64(retries)), "redirects": .int(Int64(redirects)),
            "headers": .array(headers.flatMap { [.string($0.name), .string($0.value)] }),
        ]
        members["responseBytesMax"] = responseBytesMax.map { .int(Int64($0)) }
        let head = JSONValue.object(members).serialized()
        guard let body else { return head }
        return head + [0] + body
    }

    /// The request of a payload, for hosts in memory.
    package init?(payload: [UInt8]) {
        let end = payload.firstIndex(of: 0) ?? payload.count
        guard let head = try? JSONValue(parsing: Array(payload[..<end])), let url = head["url"]?.string else { return nil }
        self.init(
            method: head["method"]?.string ?? "GET", url: url, headers: Headers(alternating: head["headers"]?.array ?? []),
            body: end < payload.count ? Array(payload[(end + 1)...]) : nil, timeoutSeconds: head["timeoutSeconds"]?.double ?? 30,
            retries: head["retries"]?.int ?? 0, redirects: head["redirects"]?.int ?? 0, responseBytesMax: head["responseBytesMax"]?.int)
    }
}

/// The answer of another server.
public struct HTTPResponse: Sendable {
    /// Such as 200.
    public var status: Int
    /// In the order received, names in lower case.
    public var headers: Headers
    /// The body, decompressed.
    public var body: [UInt8]
    /// The address that answered, after redirects.
    public var url: String
    /// The attempts that were made, 1 without retries.
    public var attempts: Int

    /// An answer, for tests of a plugin.
    public init(status: Int = 200, headers: Headers = [:], body: [UInt8] = [], url: String = "", attempts: Int = 1) {
        self.status = status
        self.headers = headers
        self.body = body
        self.url = url
        self.attempts = attempts
    }

    /// An answer with text as its body, for tests of a plugin.
    public init(status: Int = 200, headers: Headers = [:], text: String) {
        self.init(status: status, headers: headers, body: Array(text.utf8))
    }

    /// Whether the status is one from 200 to 299.
    public var isSuccess: Bool { (200...299).contains(status) }
    /// The body as text. Invalid UTF-8 is replaced.
    public var text: String { String(decoding: body, as: UTF8.self) }
    /// The body as JSON.
    public func json() throws -> JSONValue { try JSONValue(parsing: body) }
    /// The body as a value of type `T`, if it is JSON of that shape.
    public func decode<T: Decodable>(_ type: T.Type = T.self) throws -> T { try JSONDecoder().decode(type, from: body) }

    fileprivate init?(_ answer: [UInt8]) {
        let end = answer.firstIndex(of: 0) ?? answer.count
        guard let head = try? JSONValue(parsing: Array(answer[..<end])), let status = head["status"]?.int else { return nil }
        self.init(
            status: status, headers: Headers(alternating: head["headers"]?.array ?? []), body: Array(answer[end...].dropFirst()),
            url: head["url"]?.string ?? "", attempts: head["attempts"]?.int ?? 1)
    }

    /// The answer of the service, for hosts in memory.
    package var payload: [UInt8] {
        let head: JSONValue = [
            "status": .int(Int64(status)), "url": .string(url), "attempts": .int(Int64(attempts)),
            "headers": .array(headers.flatMap { [.string($0.name.lowercased()), .string($0.value)] }),
        ]
        return head.serialized() + [0] + body
    }
}

/// The reason why a request has no answer.
public struct HTTPError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure.
    public enum Code: String, Sendable, CaseIterable {
        /// The host, or its address, is none that the function may reach; or a redirect leads to such a one.
        case denied
        /// No answer in time: that of the request, or that of the call.
        case timeout
        /// No connection: the name is unknown, or nothing answers there.
        case unreachable
        /// The answer is larger than it may be.
        case tooLarge = "too-large"
        /// The server's certificate is not trusted, or the handshake failed.
        case tls
        /// There were more redirects than allowed, or one to `http:` or to another protocol.
        case redirect
        /// The connection broke, or the answer is not HTTP.
        case interrupted
        /// More requests of the worker wait than may.
        case busy
        /// The task, or the call of the function, was cancelled.
        case cancelled
        /// The address, a header or an option of the request is not valid.
        case invalidRequest = "invalid-request"
        /// The host cannot send requests.
        case unavailable
    }

    /// The kind of failure.
    public var code: Code
    /// A sentence for the log. It holds no header and no more of the address than the host.
    public var message: String

    /// An error, for tests of a plugin.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// "denied: requests to 127.0.0.1:80 are not allowed"
    public var description: String { "\(code.rawValue): \(message)" }

    fileprivate init(failure: JSONValue) {
        let reasons: [String: Code] = ["cancelled": .cancelled, "resource-exhausted": .tooLarge]
        let code = failure["details"]?["reason"]?.string.flatMap(Code.init) ?? reasons[failure["code"]?.string ?? ""] ?? .unavailable
        self.init(code, failure["message"]?.string ?? "The service http failed.")
    }

    /// The error as the service writes it, for hosts in memory.
    package var payload: [UInt8] {
        let error: JSONValue = ["code": "unavailable", "message": .string(message), "details": ["reason": .string(code.rawValue)]]
        return error.serialized()
    }
}
