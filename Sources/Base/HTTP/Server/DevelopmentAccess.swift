import HearthBytes
import EventLoop
import Glibc

/// The origins from which a server in development mode accepts credentials that anybody can forge: `owner` and unsigned tokens.
public enum DevelopmentAccess: String, Sendable, CaseIterable {
    /// None.
    case off
    /// Programs on this machine, and web pages that this machine serves.
    case loopback
    /// Other machines too. Web pages of other sites are refused as far as the server can recognize them.
    case network

    /// The reason why such a credential does not count in a request, as the end of a sentence; nil if it counts.
    ///
    /// A server on loopback can be reached by every page in the machine's browsers: pages of other sites (`Origin`, `Sec-Fetch-Site`),
    /// pages that resolve their own name to this machine's address (`Host`), and clients of a proxy on this machine (`X-Forwarded-For` and
    /// others).
    ///
    /// - Parameter isInQuery: whether the credential is part of the URL, where a page can put it without a preflight.
    public func refusal(of exchange: HTTPExchange, isInQuery: Bool = false) -> String? {
        switch self {
        case .off: return "is off on this host; start it with --development-tokens loopback, or network, to enable it"
        case .loopback:
            guard LoopbackName.matches(peer: exchange.peerAddress) else {
                return "counts from this machine only, and the request came from \(exchange.peerAddress)"
            }
            if let field = exchange.forwardingField {
                return "counts from this machine only, and the request has passed a proxy (\(field))"
            }
            return pageRefusal(exchange, LoopbackName.matches, LoopbackName.matches)
        case .network:
            if isInQuery { return DevelopmentAccess.loopback.refusal(of: exchange) }
            return pageRefusal(exchange, LoopbackName.isOutsidePublicNames, LoopbackName.isInternal)
        }
    }

    /// The reason why the request may come from a page of another site.
    ///
    /// - Parameters:
    ///   - isTrusted: whether no page of another site can use this host name for the server.
    ///   - isOwn: whether pages of this host are trusted. Pages of the host that the request names always are.
    private func pageRefusal(_ exchange: HTTPExchange, _ isTrusted: (Span<UInt8>) -> Bool, _ isOwn: (Span<UInt8>) -> Bool) -> String? {
        let host = exchange.host
        guard isTrusted(LoopbackName.host(ofAuthority: host)) else {
            return "does not count for the host \"\(Self.shown(host))\"; ask for localhost or a numeric address"
        }
        if let origin = exchange.header("origin") {
            guard isOwn(LoopbackName.host(ofOrigin: origin)) || exchange.isOfOwnPage else {
                return "does not count in requests of web pages of \"\(Self.shown(origin))\""
            }
        } else if let site = exchange.header("sec-fetch-site"), site.equalsIgnoringCase(lowercase: "cross-site") {
            return "does not count in requests of web pages of another site"
        }
        return nil
    }

    private static func shown(_ text: Span<UInt8>) -> String { text.extracting(first: min(text.count, 100)).string() }
}

/// Names and addresses that always mean this machine: 127.0.0.0/8, ::1, `localhost` and names that end in `.localhost` (RFC 6761 section
/// 6.3).
public enum LoopbackName {
    /// Whether a host without port is a loopback name: `localhost`, `127.0.0.1`, `::1` or `[::1]`.
    public static func matches(_ host: Span<UInt8>) -> Bool {
        // The usual names first: they are compared without allocation.
        if host.equals("127.0.0.1") || host.equals("localhost") { return true }
        if let address = numeric(host) { return address.isLoopback }
        return host.equalsIgnoringCase(lowercase: "localhost") || hasSuffix(host, ".localhost")
    }

    /// Whether a host without port is a loopback name.
    public static func matches(_ host: String) -> Bool { matches(Array(host.utf8).span) }

    /// Whether a socket's peer, such as `127.0.0.1:80` or `[::1]:80`, is on this machine.
    public static func matches(peer: String) -> Bool {
        if peer.utf8.starts(with: "127.0.0.1:".utf8) { return true }
        let peer = Array(peer.utf8)
        return numeric(host(ofAuthority: peer.span))?.isLoopback ?? false
    }

    /// Whether a host without port belongs to this machine or a private network: a numeric address of one, or a name of one label.
    static func isInternal(_ host: Span<UInt8>) -> Bool {
        numeric(host).map(\.isInternal) ?? isOutsidePublicNames(host)
    }

    /// Whether a host without port cannot be a name in the public DNS: a numeric address, a name of one label, or a loopback name.
    static func isOutsidePublicNames(_ host: Span<UInt8>) -> Bool {
        guard host.count > 0 else { return false }
        if numeric(host) != nil || matches(host) { return true }
        for index in 0..<host.count where host[index] == UInt8(ascii: ".") || host[index] == UInt8(ascii: ":") { return false }
        return true
    }

    /// The host of `host:port`, with the brackets of an IPv6 address.
    @_lifetime(copy authority)
    static func host(ofAuthority authority: Span<UInt8>) -> Span<UInt8> {
        var end = authority.count
        while end > 0, (48...57).contains(authority[end - 1]) { end -= 1 }
        guard end > 0, authority[end - 1] == UInt8(ascii: ":") else { return authority }
        return authority.extracting(0..<end - 1)
    }

    /// The host of `scheme://host:port`; empty for anything else, such as `null`.
    @_lifetime(copy origin)
    static func host(ofOrigin origin: Span<UInt8>) -> Span<UInt8> {
        var start = 0
        while start + 2 < origin.count, !(origin[start] == 58 && origin[start + 1] == 47 && origin[start + 2] == 47) { start += 1 }
        guard start + 3 <= origin.count, start > 0 else { return origin.extracting(0..<0) }
        return host(ofAuthority: origin.extracting(start + 3..<origin.count))
    }

    private static func hasSuffix(_ host: Span<UInt8>, _ suffix: StaticString) -> Bool {
        let count = suffix.utf8CodeUnitCount
        return host.count > count && host.extracting(host.count - count..<host.count).equalsIgnoringCase(lowercase: suffix)
    }

    /// The address of a numeric host, in brackets or not; nil for a name, and for an address with a zone.
    private static func numeric(_ host: Span<UInt8>) -> NetworkAddress? {
        guard host.count > 1, host.count <= Int(INET6_ADDRSTRLEN) + 2 else { return nil }
        let isBracketed = host[0] == UInt8(ascii: "[") && host[host.count - 1] == UInt8(ascii: "]")
        let text = isBracketed ? host.extracting(1..<host.count - 1).string() : host.string()
        guard !text.utf8.contains(UInt8(ascii: "%")), !isBracketed || text.utf8.contains(UInt8(ascii: ":")) else { return nil }
        return NetworkAddress(text)
    }
}

/// Recognizes requests of web pages. A page of any site can make a browser send requests to hosts that the site itself cannot reach.
extension HTTPExchange {
    /// Whether the request may come from a page of another site, in a browser on this machine or its network.
    ///
    /// A page that resolves its own name to this machine's address (DNS rebinding) is recognized by that name if the browser runs here.
    public var mayBeOfForeignPage: Bool {
        if let origin = header("origin") {
            if !LoopbackName.isInternal(LoopbackName.host(ofOrigin: origin)), !isOfOwnPage { return true }
        } else if let site = header("sec-fetch-site"), site.equalsIgnoringCase(lowercase: "cross-site") {
            return true
        }
        guard LoopbackName.matches(peer: peerAddress), !wasForwarded else { return false }
        return !LoopbackName.isOutsidePublicNames(LoopbackName.host(ofAuthority: host))
    }

    /// Whether the page that the request names as its origin has the host that the request is for.
    var isOfOwnPage: Bool {
        guard let origin = header("origin") else { return false }
        let page = LoopbackName.host(ofOrigin: origin).string().lowercased()
        return !page.isEmpty && page == LoopbackName.host(ofAuthority: host).string().lowercased()
    }
}
