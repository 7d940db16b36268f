/// Where keys come from. Each of them is a JSON Web Key Set or a JSON object of key ids and PEM certificates; which of the two
/// is seen from the text.
public enum KeySource: Sendable, Equatable {
    /// An address, fetched by a ``KeyFetching``.
    case url(String)
    /// A file, looked at again as its keys age.
    case file(String)
    /// The text itself.
    case text(String)
}

extension KeySource: CustomStringConvertible {
    /// The place, for a log: an address without what may be secret in it, its user, query and fragment.
    public var description: String {
        switch self {
        case .text: return "the configured text"
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

/// Brings keys from elsewhere. The HTTP client stands behind it in the host, and a table in tests.
public protocol KeyFetching: Sendable {
    /// The document at `url`.
    ///
    /// - Throws: ``KeyFetchError`` when there is no answer, or one whose status is not 200.
    func fetch(_ url: String) async throws(KeyFetchError) -> FetchedKeys
}

/// A key document as it came.
public struct FetchedKeys: Sendable {
    /// The document as it came; what it is, is seen later.
    public let bytes: [UInt8]
    /// `max-age` of `Cache-Control`, nil where the answer does not say.
    public let maxAgeSeconds: Int?

    /// A document with the time that its answer gives it.
    public init(bytes: [UInt8], maxAgeSeconds: Int?) {
        self.bytes = bytes
        self.maxAgeSeconds = maxAgeSeconds
    }
}

/// Why no keys came, in one sentence for the log.
public struct KeyFetchError: Error, Sendable, Equatable, CustomStringConvertible {
    /// One sentence, without what may be secret in an address.
    public let message: String

    /// A failure in words for the log.
    public init(_ message: String) { self.message = message }

    public var description: String { message }
}
