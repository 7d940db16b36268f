public import EventLoop
import HearthBytes

/// The proxies whose word about a request's client is taken.
///
/// A header field is anybody's to write. So a request's client is the peer of its connection, unless that is a proxy named here: then it
/// is the last address in `X-Forwarded-For` that is no such proxy, which the first of them has written.
public struct TrustedProxies: Sendable {
    private let ranges: [NetworkRange]

    /// No proxies, unless some are named.
    public init(_ ranges: [NetworkRange] = []) { self.ranges = ranges }

    /// The address that a request comes from; nil where it cannot be known: another proxy has sent it on, or one of these names no client.
    public func client(of exchange: HTTPExchange) -> NetworkAddress? {
        guard let peer = NetworkAddress(endpoint: exchange.peerAddress) else { return nil }
        guard isTrusted(peer) else { return exchange.wasForwarded ? nil : peer }
        var client: NetworkAddress?
        // Proxies add to the field, or add a field: the newest address stands last.
        for index in (0..<exchange.headerCount).reversed() where exchange.headerName(at: index).equalsIgnoringCase(lowercase: "x-forwarded-for") {
            for text in exchange.headerValue(at: index).string().split(separator: ",", omittingEmptySubsequences: false).reversed() {
                guard let address = NetworkAddress(endpoint: text.trimmed) else { return nil }
                client = address
                if !isTrusted(address) { return client }
            }
        }
        return client
    }

    /// Whose requests are counted together: the client's address, or its network in version 6; that of the connection's peer where the
    /// client cannot be known.
    public func customer(of exchange: HTTPExchange) -> NetworkAddress {
        (client(of: exchange) ?? NetworkAddress(endpoint: exchange.peerAddress))?.customer ?? .unspecified
    }

    func isTrusted(_ address: NetworkAddress) -> Bool { ranges.contains { $0.contains(address) } }
}

extension HTTPExchange {
    /// Whether the request says that a proxy has sent it on. A proxy may also say nothing.
    public var wasForwarded: Bool { forwardingField != nil }

    /// The field that says so.
    var forwardingField: StaticString? { Self.forwardingFields.first { header($0) != nil } }

    private static let forwardingFields: [StaticString] = [
        "x-forwarded-for", "via", "forwarded", "x-real-ip", "x-forwarded-proto", "x-forwarded-host", "x-forwarded-server",
    ]
}

extension Substring {
    /// Without the spaces and tabs around it.
    fileprivate var trimmed: Substring {
        var text = drop { $0 == " " || $0 == "\t" }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return text
    }
}
