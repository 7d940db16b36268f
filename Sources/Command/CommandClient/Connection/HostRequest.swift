public import HearthBytes

/// A request to a host.
public struct HostRequest {
    /// The body of a request.
    public enum Body {
        case none
        case bytes([UInt8])
        /// Read in pieces: `next` appends bytes, or nothing at the end.
        ///
        /// With a `length`, exactly that many bytes follow.
        case stream(length: Int?, next: (inout ByteBuffer) throws(ClientFailure) -> Void)
    }

    /// `GET`, `PUT`, ...
    public var method: String
    /// Begins with `/`; percent-encoded.
    public var target: String
    /// Fields besides `Host`, `Authorization`, `Content-Length` and `Transfer-Encoding`, which the client adds.
    public var headers: [(name: String, value: String)]
    /// The body.
    public var body: Body

    /// A request; without a body unless one is given.
    public init(_ method: String, _ target: String, headers: [(name: String, value: String)] = [], body: Body = .none) {
        self.method = method
        self.target = target
        self.headers = headers
        self.body = body
    }

    /// Whether repeating the request has the same effect (RFC 9110 section 9.2.2).
    var isIdempotent: Bool { method == "GET" || method == "PUT" || method == "DELETE" || method == "HEAD" }

    /// Whether its body can be sent a second time.
    var isRepeatable: Bool { if case .stream = body { false } else { true } }
}

/// The head of an answer.
public struct HostAnswerHead: Sendable {
    /// From 200 to 599.
    public let status: Int
    /// Names in lower case.
    public let headers: [(name: String, value: String)]
    /// Whether the host keeps the connection open.
    let isPersistent: Bool

    /// The value of the first header of this name.
    public func header(_ lowercaseName: String) -> String? { headers.first { $0.name == lowercaseName }?.value }
}

/// A whole answer.
public struct HostAnswer: Sendable {
    /// Status and headers.
    public let head: HostAnswerHead
    /// The body without transfer coding.
    public let body: [UInt8]

    /// An answer.
    public init(head: HostAnswerHead, body: [UInt8]) {
        self.head = head
        self.body = body
    }

    /// From 200 to 599.
    public var status: Int { head.status }
}
