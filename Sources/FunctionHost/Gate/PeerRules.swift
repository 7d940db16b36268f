import Bytes
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
        address.hasPrefix("127.") || address.hasPrefix("[::1]") || address.hasPrefix("[::ffff:127.")
    }

    /// Loopback and private networks (RFC 1918, RFC 4193).
    static func isInternal(_ address: String) -> Bool {
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
}
