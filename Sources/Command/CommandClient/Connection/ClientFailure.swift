public import HearthJSON

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
