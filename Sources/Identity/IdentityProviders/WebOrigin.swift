import HTTP

/// The parts of an absolute `scheme://host` address that decide whether it may be used. Strict: a text that browsers and this type could
/// understand differently is refused.
public struct WebOrigin: Sendable, Equatable {
    /// In lower case.
    public let scheme: String
    /// In lower case, without port; an IPv6 address with its brackets.
    public let host: String
    let query: Substring
    let fragment: Substring

    /// Parses an address; nil if it is not absolute, or has a user name, a backslash, a space or a control character.
    public init?(of text: String) {
        guard text.unicodeScalars.allSatisfy({ $0.value > 32 && $0.value != 127 && $0 != "\\" }), let colon = text.firstIndex(of: ":") else {
            return nil
        }
        let name = text[..<colon].lowercased()
        guard let first = name.utf8.first, (97...122).contains(first),
            name.utf8.allSatisfy({ (97...122).contains($0) || (48...57).contains($0) || $0 == 43 || $0 == 45 || $0 == 46 })
        else { return nil }
        var rest = text[text.index(after: colon)...]
        guard rest.hasPrefix("//") else { return nil }
        rest = rest.dropFirst(2)
        fragment = rest.firstIndex(of: "#").map { rest[rest.index(after: $0)...] } ?? ""
        rest = rest.prefix { $0 != "#" }
        query = rest.firstIndex(of: "?").map { rest[rest.index(after: $0)...] } ?? ""
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        guard !authority.utf8.contains(UInt8(ascii: "@")), let host = Self.host(of: authority) else { return nil }
        scheme = name
        self.host = host
    }

    private static func host(of authority: Substring) -> String? {
        var host = authority
        var port: Substring = ""
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { return nil }
            host = authority[...end]
            port = authority[authority.index(after: end)...]
        } else if let colon = authority.firstIndex(of: ":") {
            host = authority[..<colon]
            port = authority[colon...]
        }
        guard !host.isEmpty, host.utf8.allSatisfy({ $0 < 128 && $0 != UInt8(ascii: "%") }), port.isEmpty || port.first == ":",
            port.dropFirst().utf8.allSatisfy({ (48...57).contains($0) })
        else { return nil }
        return host.lowercased()
    }

    /// Whether the host is one of `domains`, or below one.
    public func isIn(_ domains: [String]) -> Bool {
        domains.contains { domain in
            let domain = domain.lowercased()
            return !domain.isEmpty && (host == domain || host.hasSuffix(".\(domain)"))
        }
    }

    /// Whether the host is this machine by name or number.
    public var isLoopback: Bool { LoopbackName.matches(host) }

    /// Whether the host may send a request to this address: `https:`, or `http:` to this machine.
    ///
    /// - Parameter allowsLoopback: false for addresses that a remote server names.
    public static func isUsable(_ text: String, allowsLoopback: Bool = true) -> Bool {
        guard let origin = WebOrigin(of: text) else { return false }
        return origin.scheme == "https" || origin.scheme == "http" && allowsLoopback && origin.isLoopback
    }
}
