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
    /// Like ``allowInternalOnly``, since a host has no load balancer of Google's.
    case allowInternalAndLoadBalancer = "ALLOW_INTERNAL_AND_GCLB"
}

/// The callers of a plain HTTP function.
public enum Invoker: Sendable {
    /// Everybody, or only the host's administrator.
    case `public`, `private`
    /// Like `private`, since a host has no account except its administrator's.
    case accounts([String])

    var names: [String] {
        switch self {
        case .public: ["public"]
        case .private: ["private"]
        case .accounts(let names): names
        }
    }
}

/// A private network for a function's requests. Does nothing on a host of Hearth; for other hosts of the same manifest.
public struct VPC: Sendable {
    /// The requests that use the network.
    public enum Egress: String, Sendable {
        /// Requests to private addresses only.
        case privateRangesOnly = "PRIVATE_RANGES_ONLY"
        /// All requests.
        case allTraffic = "ALL_TRAFFIC"
    }

    var connector: String
    var egress: Egress?

    /// A connector by its name, and the requests that use it; nil for the host's default.
    public init(connector: String, egress: Egress? = nil) {
        self.connector = connector
        self.egress = egress
    }
}

/// The generation of a callable. The first has no streaming: clients that ask for a stream are refused.
public enum Generation: String, Sendable {
    /// No streaming, and one call at a time in a worker.
    case first = "gcfv1"
    /// The default.
    case second = "gcfv2"
}

/// The time after which a silent stream sends a heartbeat: a number of seconds, or `.off`.
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
    /// A space in front of the next message. Every client understands it.
    case padding
    /// `: ping` as the Firebase servers send it: breaks streams of the Apple and Android clients.
    case comment
    /// None: a stream may stay silent.
    case off
}

/// The web pages that may call a function: `true`, `false`, an origin, or a list of origins and patterns.
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
        /// Scheme, host and port as the browser sends them.
        case exactly(String)
        /// A regular expression that must match a part of the origin.
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
