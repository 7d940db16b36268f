import HearthBytes

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
