import Accounts
import HearthBytes
import HearthJSON
import HTTP

/// A request, independent of its connection.
struct AuthCall {
    var path: AuthPath
    var method: HTTPMethod
    var query: FormText
    var body: AuthBody
    /// Whether the caller is an administrator.
    var isAdministrator = false
    /// The client's address, or its network.
    var address: String
    /// The client's address, for functions; nil if it is unknown.
    var client: String?
    /// The program that sends the request.
    var userAgent: String?
    /// `https://host`, for links.
    var base: String
    /// The language that the client prefers.
    var language: String?
    /// The App Check token; nil if the request has none, or none is needed.
    var appCheckToken: [UInt8]?

    /// The tenant of the path, or of the body; nil if the request names none.
    func namedTenant() throws(AuthError) -> String? {
        let named = try body.text("tenantId") ?? query["tenantId"].flatMap { $0.isEmpty ? nil : $0 }
        guard !path.tenant.isEmpty else { return named }
        if let named, named != path.tenant { throw AuthError("TENANT_ID_MISMATCH") }
        return path.tenant
    }

    /// The tenant; empty for the project itself.
    func tenant() throws(AuthError) -> String { try namedTenant() ?? "" }

    /// The facts that the links of mails need.
    var links: LinkSource { LinkSource(base: base, language: language, key: query["key"]) }
}

/// The answer to a request.
enum AuthAnswer {
    case json(JSONValue)
    /// A document with public keys, which clients may keep.
    case keys([UInt8])
    case redirect(String)
}
