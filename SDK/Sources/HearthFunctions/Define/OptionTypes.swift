/// Memory of a worker: the sizes that the Firebase tools know.
public enum Memory: Int, Sendable {
    /// In MiB.
    case mib128 = 128, mib256 = 256, mib512 = 512
    /// In GiB.
    case gib1 = 1024, gib2 = 2048, gib4 = 4096, gib8 = 8192, gib16 = 16384, gib32 = 32768
}

/// The networks from which a function may be reached.
public enum IngressSettings: String, Sendable {
    /// From everywhere.
    case allowAll = "ALLOW_ALL"
    /// From this machine and private networks only.
    case allowInternalOnly = "ALLOW_INTERNAL_ONLY"
    /// As ``allowInternalOnly``: a host on its own has no load balancer of Google's.
    case allowInternalAndLoadBalancer = "ALLOW_INTERNAL_AND_GCLB"
}

/// The callers of a plain HTTP function.
public enum Invoker: Sendable {
    /// Everybody, or only the host's administrator.
    case `public`, `private`
    /// As `private`: a host knows no accounts but its administrator's.
    case accounts([String])

    var names: [String] {
        switch self {
        case .public: ["public"]
        case .private: ["private"]
        case .accounts(let names): names
        }
    }
}

/// A private network that a function's requests leave through. For other hosts of the same manifest: here it changes nothing.
public struct VPC: Sendable {
    /// Which requests go that way.
    public enum Egress: String, Sendable {
        /// Requests to private addresses only.
        case privateRangesOnly = "PRIVATE_RANGES_ONLY"
        /// All requests.
        case allTraffic = "ALL_TRAFFIC"
    }

    var connector: String
    var egress: Egress?

    /// A connector by its name, and which requests take it; the host's default without.
    public init(connector: String, egress: Egress? = nil) {
        self.connector = connector
        self.egress = egress
    }
}

/// Whether a callable is of the first generation (no streaming; clients that ask for a stream are refused) or the second.
public enum Generation: String, Sendable {
    /// No streaming, and one call of a worker at a time.
    case first = "gcfv1"
    /// The default.
    case second = "gcfv2"
}

/// How often a stream that has nothing to say shows that it lives: a number of seconds, or `.off`.
public enum Heartbeat: Sendable, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral {
    /// After so many seconds without a message.
    case every(Double)
    /// Never.
    case off

    /// Every so many seconds.
    public init(integerLiteral seconds: Int) { self = .every(Double(seconds)) }
    /// Every so many seconds.
    public init(floatLiteral seconds: Double) { self = .every(seconds) }
}

/// The form of a heartbeat on the wire.
public enum HeartbeatStyle: String, Sendable {
    /// A space in front of the next message: understood by every client.
    case padding
    /// `: ping` as the Firebase servers send it: breaks streams of the Apple and Android clients.
    case comment
    /// Nothing at all: a stream may stay silent.
    case off
}

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
    /// One origin, sent to every page.
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
    /// This origin, for every page.
    public init(stringLiteral origin: String) { self = .only(origin) }
    /// Any of these origins.
    public init(arrayLiteral origins: Origin...) { self = .anyOf(origins) }

    /// The pages whose origin matches a regular expression.
    public static func matching(_ pattern: String) -> CORS { .anyOf([.matching(pattern)]) }
}
