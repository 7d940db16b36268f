import HearthBytes
import Configuration
import HTTP

/// The header fields that let a web page read an answer (spec functions 5).
enum CORSHeaders {
    /// Adds what every actual answer has.
    static func write(_ policy: CORSPolicy, for exchange: HTTPExchange, to fields: ResponseHead, isPreflight: Bool = false) {
        switch policy {
        case .off: return
        case .any: fields.field("Access-Control-Allow-Origin", "*")
        case .fixed(let origin): fields.field("Access-Control-Allow-Origin", Array(origin.utf8).span)
        case .reflect:
            if let origin = exchange.header("origin") { fields.field("Access-Control-Allow-Origin", origin) }
        case .list(let matchers):
            if let origin = exchange.header("origin") {
                let text = origin.string()
                if matchers.contains(where: { $0.matches(text) }) { fields.field("Access-Control-Allow-Origin", origin) }
            }
        }
        if isPreflight {
            fields.field("Vary", policy == .any ? "Access-Control-Request-Headers" : "Origin, Access-Control-Request-Headers")
        } else if policy != .any {
            fields.field("Vary", "Origin")
        }
    }

    /// Answers OPTIONS, unless the policy leaves it to the function.
    ///
    /// - Returns: whether it was answered.
    static func answerPreflight(_ exchange: HTTPExchange, _ policy: CORSPolicy, methods: StaticString) -> Bool {
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
