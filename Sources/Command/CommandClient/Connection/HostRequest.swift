public import HearthBytes
public import HearthJSON

/// What is asked of a host.
public struct HostRequest {
    /// What follows the head.
    public enum Body {
        case none
        case bytes([UInt8])
        /// Read piece by piece: `next` appends something, or nothing once all of it was read.
        ///
        /// With a `length`, exactly as many bytes come.
        case stream(length: Int?, next: (inout ByteBuffer) throws(ClientFailure) -> Void)
    }

    /// `GET`, `PUT`, ...
    public var method: String
    /// Begins with `/`; is percent-encoded.
    public var target: String
    /// Beside `Host`, `Authorization`, `Content-Length` and `Transfer-Encoding`, which the client adds.
    public var headers: [(name: String, value: String)]
    /// What follows the head.
    public var body: Body

    /// A request; without a body unless one is given.
    public init(_ method: String, _ target: String, headers: [(name: String, value: String)] = [], body: Body = .none) {
        self.method = method
        self.target = target
        self.headers = headers
        self.body = body
    }

    /// Whether doing it twice is the same as doing it once (RFC 9110 section 9.2.2).
    var isIdempotent: Bool { method == "GET" || method == "PUT" || method == "DELETE" || method == "HEAD" }

    /// Whether it can be sent a second time.
    var isRepeatable: Bool { if case .stream = body { false } else { true } }
}

/// The head of an answer.
public struct HostAnswerHead: Sendable {
    /// From 200 to 599.
    public let status: Int
    /// Names in lower case.
    public let headers: [(name: String, value: String)]
    /// Whether the host keeps the connection for another request.
    let isPersistent: Bool

    /// The value of the first header of this name.
    public func header(_ lowercaseName: String) -> String? { headers.first { $0.name == lowercaseName }?.value }
}

/// A whole answer.
public struct HostAnswer: Sendable {
    /// Status and headers.
    public let head: HostAnswerHead
    /// Without any transfer coding.
    public let body: [UInt8]

    /// An answer that was read.
    public init(head: HostAnswerHead, body: [UInt8]) {
        self.head = head
        self.body = body
    }

    /// From 200 to 599.
    public var status: Int { head.status }
}

/// Why a command did not get what it asked the host for.
public struct ClientFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// What went wrong, for callers that try again or say more.
    public enum Kind: Sendable, Equatable {
        /// What was given cannot be used: an address, a path, a file.
        case invalidInput
        /// Nobody listens there, or the name is unknown.
        case unreachable
        /// The host's certificate is not trusted, or the handshake failed.
        case tls
        /// The connection broke, or nothing came for a long time: the request may or may not have been carried out.
        case interrupted
        /// What came is not HTTP.
        case notHTTP
        /// The host answered with this status, which is 400 or above.
        case refused(status: Int)
    }

    /// What a program may want to tell apart.
    public let kind: Kind
    /// One sentence that says what to do.
    public let message: String

    /// The same for a program, where there is more to say, such as the details of a host's refusal; an object.
    public let details: JSONValue?

    /// A failure of this kind, with a sentence for a person.
    public init(_ kind: Kind, _ message: String, details: JSONValue? = nil) {
        self.kind = kind
        self.message = message
        self.details = details
    }

    /// The same as `message`.
    public var description: String { message }

    /// Whether the same request may well succeed a moment later.
    public var isPassing: Bool {
        switch kind {
        case .unreachable, .interrupted: true
        case .refused(let status): status == 429 || status == 500 || status == 502 || status == 503 || status == 504
        case .invalidInput, .tls, .notHTTP: false
        }
    }
}
