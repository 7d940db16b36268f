public import HearthJSON

/// The reason why a command failed.
public struct ClientFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kinds of failures that callers distinguish.
    public enum Kind: Sendable, Equatable {
        /// The input is invalid: an address, a path, a file.
        case invalidInput
        /// No host listens there, or the name is unknown.
        case unreachable
        /// The host's certificate is not trusted, or the handshake failed.
        case tls
        /// The connection broke or timed out: the request may or may not have been carried out.
        case interrupted
        /// The answer is not HTTP.
        case notHTTP
        /// The host answered with this status, 400 or above.
        case refused(status: Int)
    }

    /// The kind of the failure.
    public let kind: Kind
    /// One sentence with the remedy.
    public let message: String

    /// Details for programs, such as those of a host's refusal: an object.
    public let details: JSONValue?

    /// A failure of this kind, with a sentence for a person.
    public init(_ kind: Kind, _ message: String, details: JSONValue? = nil) {
        self.kind = kind
        self.message = message
        self.details = details
    }

    /// The same as `message`.
    public var description: String { message }

    /// Whether the same request may succeed a moment later.
    public var isPassing: Bool {
        switch kind {
        case .unreachable, .interrupted: true
        case .refused(let status): status == 429 || status == 500 || status == 502 || status == 503 || status == 504
        case .invalidInput, .tls, .notHTTP: false
        }
    }
}
