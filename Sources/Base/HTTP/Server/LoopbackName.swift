import HearthBytes
import EventLoop
import Glibc

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
