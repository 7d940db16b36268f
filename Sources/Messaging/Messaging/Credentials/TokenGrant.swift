import HearthBytes
import HearthJSON

/// The grant by which a service account requests an access token: an assertion that it has signed (spec messaging 5.2, RFC 7523).
struct TokenGrant: Sendable {
    let email: String
    let audience: String
    let scopes: Scopes
    private let issued: Int64
    private let expires: Int64
    private let signed: [UInt8]
    private let signature: [UInt8]

    /// The reason why a request is refused; `code` is one of OAuth's.
    struct Refusal: Error, Sendable, Equatable {
        var code: String
        var description: String

        static func invalidGrant(_ description: String) -> Refusal { Refusal(code: "invalid_grant", description: description) }
    }

    /// The largest accepted difference of the caller's clock, in seconds.
    static let skewSeconds: Int64 = 300
    /// The longest accepted time from now to the end of a grant, in seconds.
    static let lifeSecondsMax: Int64 = 3600
    static let tokenSeconds: Int64 = 3599
    private static let assertionBytesMax = 16 * 1024

    /// Parses an assertion. Does not verify its signature.
    init(_ assertion: String) throws(Refusal) {
        let bytes = Array(assertion.utf8)
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard bytes.count <= Self.assertionBytesMax, parts.count == 3, let header = Base64URL.bytes(parts[0]).flatMap({ Self.json($0) }),
            let claims = Base64URL.bytes(parts[1]).flatMap({ Self.json($0) }), let signature = Base64URL.bytes(parts[2])
        else { throw .invalidGrant("Invalid JWT: the assertion is not three parts of base64url JSON.") }
        guard header["alg"]?.string == "RS256" else { throw .invalidGrant("Invalid JWT: the algorithm must be RS256.") }
        guard let email = claims["iss"]?.string, let audience = claims["aud"]?.string, let issued = claims["iat"]?.int,
            let expires = claims["exp"]?.int
        else { throw .invalidGrant("Invalid JWT: iss, aud, iat and exp are required.") }
        self.email = email
        self.audience = audience
        self.issued = Int64(issued)
        self.expires = Int64(expires)
        self.signature = signature
        signed = Array(bytes.prefix(parts[0].count + 1 + parts[1].count))
        scopes = Scopes(list: claims["scope"]?.string ?? "")
    }

    private static func json(_ bytes: [UInt8]) -> JSONObject? { (try? JSONValue(parsing: bytes))?.object }

    /// Checks everything except the signature.
    ///
    /// - Parameters:
    ///   - now: seconds since 1970.
    ///   - host: the host and port in the request to this server.
    func check(now: Int64, host: String) throws(Refusal) {
        let audiences = [
            "http://\(host)/token", "https://\(host)/token", "https://oauth2.googleapis.com/token",
            "https://www.googleapis.com/oauth2/v4/token",
        ]
        guard audiences.contains(audience) else { throw .invalidGrant("Invalid JWT: the audience must be the token endpoint.") }
        // The end is compared with the clock, not with `iat`, because Google's PHP library sets `iat` a minute back and `exp` an hour ahead. The
        // caller chooses both numbers, so they must not be added to anything.
        guard issued >= 0, issued <= now + Self.skewSeconds, expires > max(issued, now - Self.skewSeconds),
            expires <= now + Self.lifeSecondsMax + Self.skewSeconds
        else {
            throw .invalidGrant(
                "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. "
                    + "Check your iat and exp values in the JWT claim.")
        }
        guard !scopes.isEmpty else { throw Refusal(code: "invalid_scope", description: "Invalid OAuth scope or ID token audience provided.") }
    }

    /// Whether the account has signed the assertion.
    func isSigned(by account: ServiceAccount) -> Bool { account.hasSigned(signed, signature) }

    /// The content of the access token, for the requested scopes that the account may have; nil if it may have none of them.
    func content(for account: ServiceAccount, now: Int64) -> String? {
        let scopes = scopes.within(account.bounds)
        guard !scopes.isEmpty else { return nil }
        return "\(now + Self.tokenSeconds)|\(scopes.rawValue)|\(account.project)|\(account.email)|\(account.keyID)"
    }
}
