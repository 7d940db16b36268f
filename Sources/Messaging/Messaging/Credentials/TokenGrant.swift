import HearthBytes
import HearthJSON

/// The grant that a service account asks an access token with: a token that it has signed itself (spec messaging 5.2, RFC 7523).
struct TokenGrant: Sendable {
    let email: String
    let audience: String
    let scopes: Scopes
    private let issued: Int64
    private let expires: Int64
    private let signed: [UInt8]
    private let signature: [UInt8]

    /// Why no token is given; `code` is OAuth's.
    struct Refusal: Error, Sendable, Equatable {
        var code: String
        var description: String

        static func invalidGrant(_ description: String) -> Refusal { Refusal(code: "invalid_grant", description: description) }
    }

    /// The most seconds by which the caller's clock may differ from this one.
    static let skewSeconds: Int64 = 300
    /// The most seconds from now until a grant ends.
    static let lifeSecondsMax: Int64 = 3600
    static let tokenSeconds: Int64 = 3599
    private static let assertionBytesMax = 16 * 1024

    /// Reads an assertion, whose signature is not looked at yet.
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

    /// Checks everything but who has signed.
    ///
    /// - Parameters:
    ///   - now: seconds since 1970.
    ///   - host: the host and port by which this server was asked.
    func check(now: Int64, host: String) throws(Refusal) {
        let audiences = [
            "http://\(host)/token", "https://\(host)/token", "https://oauth2.googleapis.com/token",
            "https://www.googleapis.com/oauth2/v4/token",
        ]
        guard audiences.contains(audience) else { throw .invalidGrant("Invalid JWT: the audience must be the token endpoint.") }
        // The end is bounded by the clock and not by `iat`: Google's PHP library dates its grants a minute back and has them end in an hour.
        // The caller chooses both numbers, so nothing is added to them.
        guard issued >= 0, issued <= now + Self.skewSeconds, expires > max(issued, now - Self.skewSeconds),
            expires <= now + Self.lifeSecondsMax + Self.skewSeconds
        else {
            throw .invalidGrant(
                "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. "
                    + "Check your iat and exp values in the JWT claim.")
        }
        guard !scopes.isEmpty else { throw Refusal(code: "invalid_scope", description: "Invalid OAuth scope or ID token audience provided.") }
    }

    /// Whether the account has signed it.
    func isSigned(by account: ServiceAccount) -> Bool { account.hasSigned(signed, signature) }

    /// The access token's content.
    func content(for account: ServiceAccount, now: Int64) -> String {
        "\(now + Self.tokenSeconds)|\(scopes.rawValue)|\(account.project)|\(account.email)|\(account.keyID)"
    }
}
