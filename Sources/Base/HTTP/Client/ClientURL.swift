import CCurl

/// An absolute address, as ``HTTPClient`` understands it, so that a check of its host concerns the host that is connected to.
///
/// Needs ``HTTPClient/prepare()``.
public struct ClientURL: Sendable, Equatable {
    /// The whole address without its fragment.
    public let text: String
    /// `http` or `https`.
    public let scheme: String
    /// A name in lower case without a dot at its end, or an address without brackets.
    public let host: String
    /// The port, which is that of the scheme where the address has none.
    public let port: Int

    /// Parses an `http:` or `https:` address without user and password; nil for other text.
    ///
    /// - Parameter base: the address that `text` may be relative to, as in a redirect. Characters that need it are escaped then.
    public init?(_ text: String, relativeTo base: ClientURL? = nil) {
        guard !text.utf8.contains(0) else { return nil }
        var parts = hearth_curl_url()
        guard hearth_curl_url_parse(base?.text, text, &parts) != 0 else { return nil }
        defer { hearth_curl_url_free(&parts) }
        guard let whole = parts.text, let scheme = parts.scheme, let host = parts.host, let port = parts.port.flatMap({ Int(String(cString: $0)) })
        else { return nil }
        self.text = String(cString: whole)
        self.scheme = String(cString: scheme).lowercased()
        var name = String(cString: host).lowercased()
        if name.hasPrefix("[") { name = String(name.dropFirst().dropLast()) }
        while name.hasSuffix(".") { name.removeLast() }
        guard ["http", "https"].contains(self.scheme), !name.isEmpty else { return nil }
        self.host = name
        self.port = port
    }

    /// Whether both have the same scheme, host and port.
    public func hasOrigin(of other: ClientURL) -> Bool { scheme == other.scheme && host == other.host && port == other.port }

    /// The seconds since 1970 of a date of HTTP, as in `Retry-After`; nil for other text.
    public static func seconds(ofDate text: String) -> Int64? {
        let seconds = hearth_curl_date(text)
        return seconds < 0 ? nil : seconds
    }
}
