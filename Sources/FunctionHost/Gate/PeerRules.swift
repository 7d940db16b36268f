import HearthBytes
import Configuration
import HTTP

/// Who may reach a function at all, by where he is and what he knows: `ingressSettings` and `invoker`.
enum PeerRules {
    /// Whether the request may reach the function.
    ///
    /// - Parameter adminToken: whoever presents it as bearer token may invoke what is not public.
    static func admit(_ exchange: HTTPExchange, _ function: RegisteredFunction, adminToken: [UInt8]) -> Bool {
        if function.options.ingress != .all, !isInternal(exchange.peerAddress) { return false }
        // Callables are public: they check their caller's ID token (spec functions 9).
        guard !function.isCallable, function.options.invoker != .everybody else { return true }
        guard let header = exchange.header("authorization"), header.count > 7,
            header.extracting(0..<7).equalsIgnoringCase(lowercase: "bearer ")
        else { return false }
        return header.extracting(7..<header.count).equalsInConstantTime(adminToken)
    }

    /// Whether an address is one of this machine's own, by which nobody else comes.
    static func isLoopback(_ address: String) -> Bool {
        address.hasPrefix("[::1]") || versionFour(address).hasPrefix("127.")
    }

    /// Whether an address is this machine's own, or of a private or link-local network (RFC 1918, 3927, 4193, 4291).
    static func isInternal(_ address: String) -> Bool {
        let address = versionFour(address)
        if address.hasPrefix("[") {
            return address.hasPrefix("[::1]") || address.hasPrefix("[fc") || address.hasPrefix("[fd") || address.hasPrefix("[fe80:")
        }
        let parts = address.split(separator: ".").prefix(2).compactMap { Int($0) }
        guard parts.count == 2 else { return false }
        switch parts[0] {
        case 10, 127: return true
        case 172: return (16...31).contains(parts[1])
        case 192: return parts[1] == 168
        case 169: return parts[1] == 254
        default: return false
        }
    }

    /// The IPv4 address that a socket for both versions shows as one of IPv6 (RFC 4291 section 2.5.5.2); any other as it is.
    private static func versionFour(_ address: String) -> Substring {
        address.hasPrefix("[::ffff:") ? address.dropFirst(8) : address[...]
    }
}
