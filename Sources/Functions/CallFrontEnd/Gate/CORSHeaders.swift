import Configuration
import HearthBytes
import HTTP

/// The header fields by which browsers let a web page read an answer (spec functions 5).
package enum CORSHeaders {
    /// Writes the fields of an answer; with `isPreflight`, those of an answer to OPTIONS.
    package static func write(_ policy: CORSPolicy, for exchange: HTTPExchange, to fields: ResponseHead, isPreflight: Bool = false) {
        switch policy {
        case .off: return
        case .any: fields.field("Access-Control-Allow-Origin", "*")
        case .fixed(let origin): fields.field("Access-Control-Allow-Origin", Array(origin.utf8).span)
        case .reflect:
            if let origin = exchange.header("origin") { fields.field("Access-Control-Allow-Origin", origin) }
        case .list: if names(policy, exchange), let origin = exchange.header("origin") { fields.field("Access-Control-Allow-Origin", origin) }
        }
        if isPreflight {
            fields.field("Vary", policy == .any ? "Access-Control-Request-Headers" : "Origin, Access-Control-Request-Headers")
        } else if policy != .any {
            fields.field("Vary", "Origin")
        }
    }

    /// Whether the policy lists the origin of the page that sends the request. Policies that admit all origins list none.
    static func names(_ policy: CORSPolicy, _ exchange: HTTPExchange) -> Bool {
        guard let origin = exchange.header("origin")?.string() else { return false }
        return switch policy {
        case .off, .any, .reflect: false
        case .fixed(let expected): origin == expected
        case .list(let matchers): matchers.contains { $0.matches(origin) }
        }
    }

    /// Answers an OPTIONS request, unless the policy is off, so that the function has to.
    ///
    /// - Returns: whether it was answered.
    package static func answerPreflight(_ exchange: HTTPExchange, _ policy: CORSPolicy, methods: StaticString) -> Bool {
        guard exchange.method == .options, policy != .off else { return false }
        exchange.respond(.noContent) { fields in
            write(policy, for: exchange, to: fields, isPreflight: true)
            fields.field("Access-Control-Allow-Methods", methods)
            if let wanted = exchange.header("access-control-request-headers") {
                fields.field("Access-Control-Allow-Headers", wanted)
            }
        }
        return true
    }
}
