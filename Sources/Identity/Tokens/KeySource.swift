/// A source of keys: a JSON Web Key Set, or a JSON object of key ids and PEM certificates. The format is recognized from the text.
public enum KeySource: Sendable, Equatable {
    /// A URL, fetched by a ``KeyFetching``.
    case url(String)
    /// A file, read again when its keys expire.
    case file(String)
    /// The text itself.
    case text(String)
    /// The host's own keys. Rotation is followed at once; there is nothing to fetch.
    case ring(KeyRing)
}

extension KeySource: CustomStringConvertible {
    /// The source, for the log: a URL without user, query and fragment, which may be secret.
    public var description: String {
        switch self {
        case .text: return "the configured text"
        case .ring: return "the host's own keys"
        case .file(let path): return path
        case .url(let url):
            let place = url.prefix { $0 != "?" && $0 != "#" }
            guard let scheme = place.firstRange(of: "://") else { return String(place) }
            let authority = place[scheme.upperBound...].prefix { $0 != "/" }
            guard let user = authority.lastIndex(of: "@") else { return String(place) }
            return String(place[..<scheme.upperBound] + place[place.index(after: user)...])
        }
    }
}

/// Fetches key documents: the HTTP client in the host, a table in tests.
public protocol KeyFetching: Sendable {
    /// The document at `url`.
    ///
    /// - Throws: ``KeyFetchError`` when there is no answer, or one whose status is not 200.
    func fetch(_ url: String) async throws(KeyFetchError) -> FetchedKeys
}

/// A fetched key document.
public struct FetchedKeys: Sendable {
    /// The contents, of either format.
    public let bytes: [UInt8]
    /// `max-age` of `Cache-Control`; nil if the answer has none.
    public let maxAgeSeconds: Int?

    /// A document with the lifetime of its answer.
    public init(bytes: [UInt8], maxAgeSeconds: Int?) {
        self.bytes = bytes
        self.maxAgeSeconds = maxAgeSeconds
    }
}

/// The reason why no keys were fetched, in one sentence for the log.
public struct KeyFetchError: Error, Sendable, Equatable, CustomStringConvertible {
    /// One sentence, without the secret parts of a URL.
    public let message: String

    /// A failure with a sentence for the log.
    public init(_ message: String) { self.message = message }

    public var description: String { message }
}

/// The lifetimes of keys and the intervals of fetching, in seconds.
public struct KeyTimes: Sendable, Equatable {
    /// The lifetime of keys whose answer states none.
    public var maxAgeDefault = 3600
    /// The least lifetime, for answers that state less.
    public var maxAgeFloor = 10
    /// The greatest lifetime, for answers that state more.
    public var maxAgeCeiling = 86_400
    /// How long expired keys stay in use while newer ones cannot be fetched.
    public var staleMax = 86_400
    /// The least interval between fetches for unknown key ids.
    public var unknownKeyInterval = 30
    /// The least time between a failure and the next fetch.
    public var retryInterval = 5
    /// The lifetime of the contents of a file.
    public var fileMaxAge = 60

    /// The values of the host.
    public init() {}

    /// The lifetime of an answer's keys.
    func lifetime(_ maxAge: Int?) -> Int { min(max(maxAge ?? maxAgeDefault, maxAgeFloor), maxAgeCeiling) }
}
