/// A request of ``HTTPClient``.
public struct ClientRequest: Sendable {
    /// `GET`, `POST`, ...; sent verbatim.
    public var method: String
    /// An absolute `http:` or `https:` URL.
    public var url: String
    /// Names and values in the order of sending. The client adds `Host`, `Accept` and `Content-Length`.
    public var headers: [(name: String, value: String)]
    /// The body; nil sends none, which differs from an empty one.
    public var body: [UInt8]?
    /// Limit for the whole exchange, at least 1.
    public var timeoutMilliseconds: Int
    /// Limit for connecting; nil for that of the whole exchange.
    public var connectMilliseconds: Int?
    /// Limit for the body of the answer; a longer one fails with ``ClientError/Kind/responseTooLarge``.
    public var responseBytesMax: Int
    /// Limit for the lines of the answer's heads together, also of interim answers; a longer one fails with
    /// ``ClientError/Kind/responseTooLarge``.
    public var headBytesMax = 256 << 10
    /// Whether the answer may come compressed, and is decompressed. ``responseBytesMax`` counts the decompressed bytes.
    public var decompresses = false
    /// Whether the proxy of the environment is left out.
    public var isDirect = false
    /// Decides which addresses this request may connect to; nil leaves it to the client's rule. A client's requests share connections, so two
    /// requests for the same host and port need the same rule.
    public var admits: AddressRule?
    /// The most redirects to follow; 0 returns a redirect as the answer. Redirects from `https:` to `http:` are never followed.
    public var redirectsMax: Int

    /// The defaults: ten seconds for the exchange, a body of at most 1 MiB, no redirects.
    public init(
        method: String = "GET", url: String, headers: [(name: String, value: String)] = [], body: [UInt8]? = nil,
        timeoutMilliseconds: Int = 10_000, responseBytesMax: Int = 1 << 20, redirectsMax: Int = 0
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.timeoutMilliseconds = timeoutMilliseconds
        self.responseBytesMax = responseBytesMax
        self.redirectsMax = redirectsMax
    }

    /// The reason why the request cannot be sent; nil if it can. Refuses whatever could smuggle a header or use another protocol than HTTP.
    var objection: String? {
        guard url.hasPrefix("https://") || url.hasPrefix("http://") else { return "the address is neither http: nor https:" }
        guard url.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else { return "the address holds a space or a control character" }
        guard !method.isEmpty, method.utf8.allSatisfy(Self.isTokenByte) else { return "the method is not a token" }
        for (name, value) in headers {
            guard !name.isEmpty, name.utf8.allSatisfy(Self.isTokenByte) else { return "a header's name is not a token" }
            guard value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
                return "the value of \(name) holds a control character"
            }
        }
        guard timeoutMilliseconds > 0, responseBytesMax >= 0, redirectsMax >= 0 else { return "a limit is out of range" }
        return nil
    }

    /// RFC 9110 section 5.6.2.
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}

/// The answer of a server.
public struct ClientResponse: Sendable {
    /// The status code, for example 200.
    public let status: Int
    /// Names in lower case, in the order received; those of the last answer after redirects.
    public let headers: [(name: String, value: String)]
    /// The body as received, at most ``ClientRequest/responseBytesMax`` bytes.
    public let body: [UInt8]

    /// The value of the first header of this name, which is given in lower case.
    public func header(_ lowercaseName: String) -> String? {
        headers.first { $0.name == lowercaseName }?.value
    }

    /// The time in seconds for which the answer may be cached: `max-age` of `Cache-Control` less `Age` (RFC 9111 section 4.2). Nil if the
    /// answer does not tell; 0 for `no-store` and `no-cache`.
    public var maxAgeSeconds: Int? {
        var found: Int?
        for (name, value) in headers where name == "cache-control" {
            for directive in value.split(separator: ",") {
                let text = directive.lowercased().filter { $0 != " " && $0 != "\t" && $0 != "\"" }
                if text == "no-store" || text == "no-cache" { return 0 }
                if text.hasPrefix("max-age=") { found = Int(text.dropFirst("max-age=".count)).map { max(0, $0) } ?? found }
            }
        }
        let age = header("age").flatMap { Int($0) } ?? 0
        return found.map { max(0, $0 - max(0, age)) }
    }
}

/// The reason why ``HTTPClient`` got no answer.
public struct ClientError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kinds of errors that callers distinguish.
    public enum Kind: Sendable, Equatable {
        /// The request is invalid.
        case invalidRequest
        /// libcurl is missing on this machine or unusable.
        case unavailable
        /// No connection: the name is unknown, the server refuses, the network is down.
        case connect
        /// All addresses of the name are forbidden for this client.
        case forbiddenAddress
        /// The server's certificate is not trusted, or the handshake failed.
        case tls
        /// The exchange exceeded ``ClientRequest/timeoutMilliseconds``.
        case timeout
        /// The answer is longer than ``ClientRequest/responseBytesMax``.
        case responseTooLarge
        /// More redirects than ``ClientRequest/redirectsMax``, or one to another protocol.
        case redirect
        /// The connection broke, or the answer is not HTTP.
        case transfer
        /// The task that sent it was cancelled, or the client was closed.
        case cancelled
    }

    /// The kind of the error.
    public let kind: Kind
    /// One sentence for a log. It holds neither headers nor the address.
    public let message: String

    init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    public var description: String { message }
}
