/// Why ``HTTPClient`` has no answer.
public struct ClientError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What a caller can act on.
    public enum Kind: Sendable, Equatable {
        /// The request is not one that can be sent.
        case invalidRequest
        /// libcurl is not on this machine, or is of no use.
        case unavailable
        /// No connection: the name is unknown, the server refuses, the network is down.
        case connect
        /// Every address that the name leads to is one that the client does not connect to.
        case forbiddenAddress
        /// The server's certificate is not trusted, or the handshake failed.
        case tls
        /// ``ClientRequest/timeoutMilliseconds`` went by.
        case timeout
        /// The answer is longer than ``ClientRequest/responseBytesMax``.
        case responseTooLarge
        /// More redirects than ``ClientRequest/redirectsMax``, or one to another protocol.
        case redirect
        /// The connection broke, or what came is not HTTP.
        case transfer
        /// The task that sent it was cancelled, or the client was closed.
        case cancelled
    }

    /// What a caller can act on.
    public let kind: Kind
    /// One sentence for a log. It holds neither headers nor the address.
    public let message: String

    init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    public var description: String { message }
}
