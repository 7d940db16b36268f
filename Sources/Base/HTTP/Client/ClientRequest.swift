/// What ``HTTPClient`` sends.
public struct ClientRequest: Sendable {
    /// `GET`, `POST`, ...; sent as it is written here.
    public var method: String
    /// An absolute `http:` or `https:` address.
    public var url: String
    /// Names and values in the order they are sent. The client adds `Host`, `Accept` and `Content-Length`.
    public var headers: [(name: String, value: String)]
    /// The body; nil sends none, which is not the same as an empty one.
    public var body: [UInt8]?
    /// Limit of the whole exchange, from 1 on.
    public var timeoutMilliseconds: Int
    /// Limit until there is a connection; that of the whole exchange where it is nil.
    public var connectMilliseconds: Int?
    /// Limit of the answer's body; a longer one is refused with ``ClientError/Kind/responseTooLarge``.
    public var responseBytesMax: Int
    /// How many redirects are followed; at 0 a redirect is an answer like any other. From `https:` none leads to `http:`.
    public var redirectsMax: Int

    /// The defaults: ten seconds for the whole exchange, a body of at most 1 MiB, and redirects are not followed.
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

    /// Why this cannot be sent, nil where it can. What is refused here could smuggle a header or leave HTTP.
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
