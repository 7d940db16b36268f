import HearthBytes
import EventLoop
import Glibc

/// From where a server in development mode takes credentials that anybody can write: `owner` and tokens without a signature.
public enum DevelopmentAccess: String, Sendable, CaseIterable {
    /// From nowhere.
    case off
    /// From programs of this machine, and from web pages that it serves itself.
    case loopback
    /// From other machines too. Web pages of foreign sites stay out, as far as a server can tell.
    case network

    /// Why such a credential does not count in a request, as the end of a sentence; nil where it counts.
    ///
    /// A server on loopback can be asked by everything that the machine's browsers show: pages of foreign sites (`Origin`,
    /// `Sec-Fetch-Site`), also those that have given their own name this machine's address (`Host`), and by what a proxy on this machine
    /// lets through (`X-Forwarded-For` and others).
    ///
    /// - Parameter isInQuery: whether the credential is a part of the address, where a page can put it without a preflight.
    public func refusal(of exchange: HTTPExchange, isInQuery: Bool = false) -> String? {
        switch self {
        case .off: return "is off on this host; start it with --development-tokens loopback, or network, to have it"
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

    /// Why the request may be one of a foreign web page.
    ///
    /// - Parameters:
    ///   - isTrusted: tells hosts that no foreign page can be asked for by.
    ///   - isOwn: tells hosts whose pages are trusted. Pages of the host that the request names are, too.
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

/// Names and addresses of this machine that no other machine can have: 127.0.0.0/8, ::1, `localhost` and what ends in `.localhost`
/// (RFC 6761 section 6.3).
public enum LoopbackName {
    /// Whether a host, without port, is one: `localhost`, `127.0.0.1`, `::1` or `[::1]`.
    public static func matches(_ host: Span<UInt8>) -> Bool {
        // The usual ones, which need no memory to be read.
        if host.equals("127.0.0.1") || host.equals("localhost") { return true }
        if let address = numeric(host) { return address.isLoopback }
        return host.equalsIgnoringCase(lowercase: "localhost") || hasSuffix(host, ".localhost")
    }

    /// Whether a host, without port, is one.
    public static func matches(_ host: String) -> Bool { matches(Array(host.utf8).span) }

    /// Whether a socket's peer, as `127.0.0.1:80` or `[::1]:80`, is on this machine.
    public static func matches(peer: String) -> Bool {
        if peer.utf8.starts(with: "127.0.0.1:".utf8) { return true }
        let peer = Array(peer.utf8)
        return numeric(host(ofAuthority: peer.span))?.isLoopback ?? false
    }

    /// Whether a host, without port, is of this machine or of a private network: a numeric address of one, or a name of one label.
    static func isInternal(_ host: Span<UInt8>) -> Bool {
        numeric(host).map(\.isInternal) ?? isOutsidePublicNames(host)
    }

    /// Whether a host, without port, cannot be a name that its owner has put into the public DNS: a numeric address, a name of one label,
    /// or a name of this machine.
    static func isOutsidePublicNames(_ host: Span<UInt8>) -> Bool {
        guard host.count > 0 else { return false }
        if numeric(host) != nil || matches(host) { return true }
        for index in 0..<host.count where host[index] == UInt8(ascii: ".") || host[index] == UInt8(ascii: ":") { return false }
        return true
    }

    /// The host of `host:port`, with the brackets that an address of IPv6 has.
    @_lifetime(copy authority)
    static func host(ofAuthority authority: Span<UInt8>) -> Span<UInt8> {
        var end = authority.count
        while end > 0, (48...57).contains(authority[end - 1]) { end -= 1 }
        guard end > 0, authority[end - 1] == UInt8(ascii: ":") else { return authority }
        return authority.extracting(0..<end - 1)
    }

    /// The host of `scheme://host:port`; empty for what is none, as for `null`.
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

    /// The address that a host is, in brackets or not; nil for a name, and for an address with a zone.
    private static func numeric(_ host: Span<UInt8>) -> NetworkAddress? {
        guard host.count > 1, host.count <= Int(INET6_ADDRSTRLEN) + 2 else { return nil }
        let isBracketed = host[0] == UInt8(ascii: "[") && host[host.count - 1] == UInt8(ascii: "]")
        let text = isBracketed ? host.extracting(1..<host.count - 1).string() : host.string()
        guard !text.utf8.contains(UInt8(ascii: "%")), !isBracketed || text.utf8.contains(UInt8(ascii: ":")) else { return nil }
        return NetworkAddress(text)
    }
}

/// Requests of web pages. A page of any site can have a browser ask hosts that the site itself cannot reach.
extension HTTPExchange {
    /// Whether the request may be one of a page of another site, in a browser of this machine or of its network.
    ///
    /// A page that has given its own name this machine's address (DNS rebinding) is told by that name, where the browser runs here.
    public var mayBeOfForeignPage: Bool {
        if let origin = header("origin") {
            if !LoopbackName.isInternal(LoopbackName.host(ofOrigin: origin)), !isOfOwnPage { return true }
        } else if let site = header("sec-fetch-site"), site.equalsIgnoringCase(lowercase: "cross-site") {
            return true
        }
        guard LoopbackName.matches(peer: peerAddress), !wasForwarded else { return false }
        return !LoopbackName.isOutsidePublicNames(LoopbackName.host(ofAuthority: host))
    }

    /// Whether the page that the request says it is of has the host that the request names.
    var isOfOwnPage: Bool {
        guard let origin = header("origin") else { return false }
        let page = LoopbackName.host(ofOrigin: origin).string().lowercased()
        return !page.isEmpty && page == LoopbackName.host(ofAuthority: host).string().lowercased()
    }
}
