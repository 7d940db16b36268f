import Configuration
import EventLoop
import FunctionDispatch
import HearthBytes
import HTTP

/// Who may reach a function at all, by where he is and what he knows: `ingressSettings` and `invoker`.
enum PeerRules {
    /// Whether the request may reach the function.
    ///
    /// - Parameters:
    ///   - adminToken: whoever presents it as bearer token may invoke what is not public.
    ///   - proxies: those that are believed where they name a client.
    static func admit(_ exchange: HTTPExchange, _ function: RegisteredFunction, adminToken: [UInt8], proxies: TrustedProxies) -> Bool {
        if function.options.ingress != .all {
            guard proxies.client(of: exchange)?.isInternal == true else { return false }
            if exchange.mayBeOfForeignPage, !CORSHeaders.names(function.options.cors, exchange) { return false }
        }
        // Callables are public: they check their caller's ID token (spec functions 9).
        guard !function.isCallable, function.options.invoker != .everybody else { return true }
        guard let header = exchange.header("authorization"), header.count > 7,
            header.extracting(0..<7).equalsIgnoringCase(lowercase: "bearer ")
        else { return false }
        return header.extracting(7..<header.count).equalsInConstantTime(adminToken)
    }
}
