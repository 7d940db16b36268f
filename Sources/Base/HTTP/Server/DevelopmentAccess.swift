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
        case .loopback: return loopbackRefusal(of: exchange, advice: Self.networkAdvice)
        case .network:
            if isInQuery { return loopbackRefusal(of: exchange, advice: "send it in the Authorization field") }
            return pageRefusal(
                exchange, LoopbackName.isOutsidePublicNames, LoopbackName.isInternal,
                hosts: "only localhost, numeric addresses and names without a dot count")
        }
    }

    /// Says how other machines, and emulators of phones, can be admitted.
    private static let networkAdvice = "start the host with --development-tokens network to admit other addresses"

    /// The reason why the request does not count as one of this machine.
    ///
    /// - Parameter advice: says what helps.
    private func loopbackRefusal(of exchange: HTTPExchange, advice: String) -> String? {
        guard LoopbackName.matches(peer: exchange.peerAddress) else {
            return "counts from this machine only, and the request came from \(exchange.peerAddress)"
        }
        if let field = exchange.forwardingField {
            return "counts from this machine only, and the request has passed a proxy (\(field))"
        }
        return pageRefusal(
            exchange, LoopbackName.matches, LoopbackName.matches,
            hosts: "only localhost, names that end in .localhost, 127.0.0.0/8 and [::1] count; \(advice)")
    }

    /// The reason why the request may come from a page of another site.
    ///
    /// - Parameters:
    ///   - isTrusted: whether no page of another site can use this host name for the server.
    ///   - isOwn: whether pages of this host are trusted. Pages of the host that the request names always are.
    ///   - hosts: says which host names count. Made for a refusal only.
    private func pageRefusal(
        _ exchange: HTTPExchange, _ isTrusted: (Span<UInt8>) -> Bool, _ isOwn: (Span<UInt8>) -> Bool, hosts: @autoclosure () -> String
    ) -> String? {
        let host = exchange.host
        guard isTrusted(LoopbackName.host(ofAuthority: host)) else {
            return "does not count for the host \"\(Self.shown(host))\": \(hosts())"
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
