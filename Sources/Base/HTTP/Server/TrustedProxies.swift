public import EventLoop
import HearthBytes

/// The proxies whose statements about a request's client are trusted.
///
/// Any client can write a header field. So the client of a request is the peer of its connection, unless the peer is a trusted proxy: then
/// it is the last address in `X-Forwarded-For` that is no trusted proxy, which the first trusted proxy has written.
public struct TrustedProxies: Sendable {
    private let ranges: [NetworkRange]

    /// Trusted ranges; none by default.
    public init(_ ranges: [NetworkRange] = []) { self.ranges = ranges }

    /// The address of a request's client; nil if it is unknown: an untrusted proxy has forwarded the request, or a trusted one names no
    /// client.
    public func client(of exchange: HTTPExchange) -> NetworkAddress? {
        guard let peer = NetworkAddress(endpoint: exchange.peerAddress) else { return nil }
        guard isTrusted(peer) else { return exchange.wasForwarded ? nil : peer }
        var client: NetworkAddress?
        // Proxies append to the field, or append a field: the newest address is the last.
        for index in (0..<exchange.headerCount).reversed() where exchange.headerName(at: index).equalsIgnoringCase(lowercase: "x-forwarded-for") {
            for text in exchange.headerValue(at: index).string().split(separator: ",", omittingEmptySubsequences: false).reversed() {
                guard let address = NetworkAddress(endpoint: text.trimmed) else { return nil }
                client = address
                if !isTrusted(address) { return client }
            }
        }
        return client
    }

    /// The key by which requests are counted per client: the client's address, or its network for IPv6; the connection's peer if the client
    /// is unknown.
    public func customer(of exchange: HTTPExchange) -> NetworkAddress {
        (client(of: exchange) ?? NetworkAddress(endpoint: exchange.peerAddress))?.customer ?? .unspecified
    }

    func isTrusted(_ address: NetworkAddress) -> Bool { ranges.contains { $0.contains(address) } }
}

extension HTTPExchange {
    /// Whether the request declares that a proxy has forwarded it. Some proxies do not declare it.
    public var wasForwarded: Bool { forwardingField != nil }

    /// The field that declares it.
    var forwardingField: StaticString? { Self.forwardingFields.first { header($0) != nil } }

    private static let forwardingFields: [StaticString] = [
        "x-forwarded-for", "via", "forwarded", "x-real-ip", "x-forwarded-proto", "x-forwarded-host", "x-forwarded-server",
    ]
}

extension Substring {
    /// The text without surrounding spaces and tabs.
    fileprivate var trimmed: Substring {
        var text = drop { $0 == " " || $0 == "\t" }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return text
    }
}
