import Configuration
import EventLoop
import FunctionDispatch
import HearthBytes
import HTTP

/// The checks of `ingressSettings` and `invoker`: from where, and with which credential, a function may be called.
enum PeerRules {
    /// Whether the request may reach the function.
    ///
    /// - Parameters:
    ///   - adminToken: the bearer token that may call functions which are not public.
    ///   - proxies: the proxies whose header with the client's address is trusted.
    static func admit(_ exchange: HTTPExchange, _ function: RegisteredFunction, adminToken: [UInt8], proxies: TrustedProxies) -> Bool {
        if function.options.ingress != .all {
            guard proxies.client(of: exchange)?.isInternal == true else { return false }
            if exchange.mayBeOfForeignPage, !CORSHeaders.names(function.options.cors, exchange) { return false }
        }
        // Callables are always public: they check the ID token of their caller (spec functions 9).
        guard !function.isCallable, function.options.invoker != .everybody else { return true }
        guard let header = exchange.header("authorization"), header.count > 7,
            header.extracting(0..<7).equalsIgnoringCase(lowercase: "bearer ")
        else { return false }
        return header.extracting(7..<header.count).equalsInConstantTime(adminToken)
    }
}
