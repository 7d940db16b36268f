/// Which web pages may call a function: `true`, `false`, an origin, or a list of origins and patterns.
///
///     cors: true
///     cors: "https://app.example.com"
///     cors: ["https://app.example.com", .matching("\\.example\\.com$")]
public enum CORS: Sendable {
    /// Every page.
    case all
    /// No CORS headers at all.
    case off
    /// One origin, sent whoever asks.
    case only(String)
    /// The pages whose origin is one of these.
    case anyOf([Origin])

    /// An origin such as `https://app.example.com`, or a pattern for some.
    public enum Origin: Sendable, ExpressibleByStringLiteral {
        /// Scheme, host and port as the browser writes them.
        case exactly(String)
        /// A regular expression that the origin must contain a match of.
        case matching(String)

        /// Exactly this origin.
        public init(stringLiteral origin: String) { self = .exactly(origin) }
    }
}

extension CORS: ExpressibleByBooleanLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral {
    /// Every origin, or no CORS at all.
    public init(booleanLiteral isOn: Bool) { self = isOn ? .all : .off }
    /// This origin, whoever calls.
    public init(stringLiteral origin: String) { self = .only(origin) }
    /// Any of these origins.
    public init(arrayLiteral origins: Origin...) { self = .anyOf(origins) }

    /// The pages whose origin matches a regular expression.
    public static func matching(_ pattern: String) -> CORS { .anyOf([.matching(pattern)]) }
}
