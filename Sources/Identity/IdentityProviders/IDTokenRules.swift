import Crypto
import HearthBytes
import HearthJSON
import Tokens

/// The requirements for ID tokens of one provider (spec auth 2.2 and 3.3).
struct IDTokenRules: Sendable {
    /// Such as `facebook.com`.
    var provider: String
    /// Accepted values of `iss`, exactly.
    var issuers: [String]
    /// Accepted values of `aud`.
    var audiences: [String]
    var algorithms: Set<String> = ["RS256"]
    /// Whether the header must have `typ: JWT`.
    var requiresType = false
    /// Whether every token must have a nonce.
    var requiresNonce = false
    /// Older tokens are refused; nil: only expired ones.
    var ageSecondsMax: Int?

    /// The tolerated difference between the provider's clock and this one.
    static let skewSeconds = 60
    /// No time is later: the year 9999.
    private static let timeMax: Int64 = 253_402_300_799

    /// The nonce that a token must have.
    enum Nonce: Sendable {
        /// The SHA-256 hash of a client's raw nonce, in lower-case hexadecimal digits.
        case raw(String?)
        /// Exactly this text: the host itself has asked for it.
        case exactly(String)
    }

    /// Verifies a token, and returns its claims. The last step marks the token as used.
    func verified(
        _ text: String, nonce: Nonce, keys: KeySet, ledger: any CredentialLedger, now: Int
    ) async throws(AssertionError) -> JSONObject {
        let token: UncheckedToken
        do throws(TokenRefusal) {
            token = try UncheckedToken(text)
        } catch .malformed {
            throw .invalid("Unable to parse the ID token.")
        } catch {
            throw .invalid(Self.sentence(error))
        }
        guard token.type == "JWT" || token.type == nil && !requiresType else { throw .invalid("The ID token's header is not that of a JWT.") }
        let expires = try check(token.claims, now: now)
        switch await token.refusal(keys: keys, algorithms: algorithms) {
        case nil: break
        case .keysUnavailable?: throw .remote(provider)
        case let refusal?: throw .invalid(Self.sentence(refusal))
        }
        let hasNonce = try check(nonce, token.claims)
        if hasNonce {
            // Tokens without a nonce may be presented again, as the hosted service accepts it.
            let identity = token.claims["jti"]?.string.map { "jti:\($0)" } ?? "token:\(text)"
            let key = "\(provider) \(Self.hex(SHA256.hash(data: Array(identity.utf8))))"
            switch await ledger.isFirstUse(of: key, expires: expires + Self.skewSeconds) {
            case true?: break
            case false?: throw .duplicate
            case nil: throw .storeUnavailable
            }
        }
        return token.claims
    }

    /// Checks all claims but the nonce; returns the expiry.
    func check(_ claims: JSONObject, now: Int) throws(AssertionError) -> Int {
        guard let issuer = claims["iss"]?.string, issuers.contains(issuer) else { throw .invalid("The ID token is from another issuer.") }
        guard let audience = Self.audience(claims["aud"]), audiences.contains(audience) else {
            throw .invalid("The ID token audience does not match.")
        }
        guard let expires = Self.time(claims["exp"]), let issued = Self.time(claims["iat"]) else {
            throw .invalid("A time of the ID token is missing or not a whole number.")
        }
        guard expires > now - Self.skewSeconds, ageSecondsMax.map({ issued >= now - $0 - Self.skewSeconds }) ?? true else {
            throw .invalid("ID Token issued at \(issued) is stale to sign-in.")
        }
        let starts = claims["nbf"] == nil ? issued : Self.time(claims["nbf"])
        guard issued <= now + Self.skewSeconds, let starts, starts <= now + Self.skewSeconds else {
            throw .invalid("The ID token is not valid yet.")
        }
        guard let subject = claims["sub"]?.string, 1...255 ~= subject.utf8.count else { throw .invalid("The ID token has no subject.") }
        return expires
    }

    /// Checks the nonce in constant time; returns whether the token has one.
    private func check(_ nonce: Nonce, _ claims: JSONObject) throws(AssertionError) -> Bool {
        let code = "MISSING_OR_INVALID_NONCE"
        guard let claimed = claims["nonce"] else {
            if case .exactly = nonce { throw AssertionError(code, "Nonce is missing in the ID token.") }
            if requiresNonce { throw AssertionError(code, "Nonce is missing in the ID token.") }
            return false
        }
        let expected: String
        switch nonce {
        case .exactly(let text): expected = text
        case .raw(nil): throw AssertionError(code, "Nonce is missing in the request.")
        case .raw(let raw?): expected = Self.hex(SHA256.hash(data: Array(raw.utf8)))
        }
        guard let text = claimed.string, Array(text.utf8).span.equalsInConstantTime(Array(expected.utf8)) else {
            throw AssertionError(code, "The nonce in ID Token does not match the SHA256 hash of the raw nonce in the request.")
        }
        return true
    }

    /// The only audience; nil for several ones.
    private static func audience(_ value: JSONValue?) -> String? {
        if let list = value?.array { return list.count == 1 ? list[0].string : nil }
        return value?.string
    }

    private static func time(_ value: JSONValue?) -> Int? {
        guard case .int(let seconds)? = value, 0...timeMax ~= seconds else { return nil }
        return Int(seconds)
    }

    private static func sentence(_ refusal: TokenRefusal) -> String {
        switch refusal {
        case .algorithm: "The ID token is signed with an algorithm that is not accepted."
        case .keyUnknown: "No key of the provider has the id that the ID token names."
        case .signature: "The ID token's signature is wrong."
        case .tooLong: "The ID token is too long."
        case .unsigned: "The ID token is not signed."
        case .keyIDMissing: "The ID token does not name its key."
        default: "Unable to parse the ID token."
        }
    }

    /// Lower-case hexadecimal digits.
    static func hex(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}

extension Assertion {
    /// The statement of verified claims (OpenID Connect Core section 5.1).
    init(provider: String, claims: JSONObject, emailIsVerified: Bool? = nil) {
        self.init(provider: provider, rawID: claims["sub"]?.string ?? "")
        email = Self.email(claims["email"])
        // Apple writes a text.
        let stated = claims["email_verified"]?.bool ?? (claims["email_verified"]?.string == "true")
        isEmailVerified = email != nil && (emailIsVerified ?? stated)
        displayName = Self.text(claims["name"])
        firstName = Self.text(claims["given_name"])
        lastName = Self.text(claims["family_name"])
        photoURL = Self.text(claims["picture"], bytesMax: 4096)
        profile = claims
        for name in ["nonce", "jti", "cnf"] { profile.removeValue(forKey: name) }
    }

    /// An address in its stored form; nil for anything else.
    static func email(_ value: JSONValue?) -> String? {
        guard let text = value?.string?.lowercased(), 3..<256 ~= text.utf8.count else { return nil }
        let parts = text.utf8.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty }), text.utf8.allSatisfy({ $0 > 32 && $0 != 127 }) else { return nil }
        return text
    }

    /// A text of bounded length; nil for anything else.
    static func text(_ value: JSONValue?, bytesMax: Int = 1024) -> String? {
        guard let text = value?.string, 1...bytesMax ~= text.utf8.count else { return nil }
        return text
    }
}
