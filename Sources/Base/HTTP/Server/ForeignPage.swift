import HearthBytes

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
