import HearthBytes
import HTTP

/// The operation of a request, in whichever way it is stated.
enum RESTVerb: Sendable, Equatable {
    case get, put, post, patch, delete

    /// The verb of a method, or of the method that a POST stands for, because clients behind old proxies, and forms, support no others (spec
    /// database 2.2).
    ///
    /// - Parameter parameter: the value of `x-http-method-override`.
    init(_ exchange: HTTPExchange, parameter: [UInt8]?) throws(RESTError) {
        if exchange.method == .post {
            if let header = exchange.header("x-http-method-override") {
                self = try RESTVerb(name: header)
                return
            }
            if let parameter {
                self = try RESTVerb(name: parameter.span)
                return
            }
        }
        switch exchange.method {
        case .get, .head: self = .get
        case .put: self = .put
        case .post: self = .post
        case .patch: self = .patch
        case .delete: self = .delete
        default: throw RESTError(.methodNotAllowed, "Method not allowed: \(exchange.method)")
        }
    }

    private init(name: Span<UInt8>) throws(RESTError) {
        if name.equalsIgnoringCase(lowercase: "get") {
            self = .get
        } else if name.equalsIgnoringCase(lowercase: "put") {
            self = .put
        } else if name.equalsIgnoringCase(lowercase: "post") {
            self = .post
        } else if name.equalsIgnoringCase(lowercase: "patch") {
            self = .patch
        } else if name.equalsIgnoringCase(lowercase: "delete") {
            self = .delete
        } else {
            throw RESTError.badRequest("x-http-method-override must be GET, PUT, POST, PATCH or DELETE")
        }
    }

    /// Whether the verb changes the database.
    var isWrite: Bool { self != .get }
}
