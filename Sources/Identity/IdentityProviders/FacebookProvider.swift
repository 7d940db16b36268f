import Crypto
import HearthJSON
import HTTP
import Tokens

/// Facebook (spec auth 3): the access tokens of classic login are checked by asking Facebook, the ID tokens of Limited Login with its keys.
///
/// Both kinds have the same id of a person for one app.
struct FacebookProvider: Sendable {
    static let id = "facebook.com"

    let settings: FacebookSettings
    let transport: any ProviderTransport
    let keys: KeySet
    let ledger: any CredentialLedger
    let clock: TokenClock

    init(_ settings: FacebookSettings, transport: any ProviderTransport, ledger: any CredentialLedger, clock: TokenClock) {
        self.settings = settings
        self.transport = transport
        self.ledger = ledger
        self.clock = clock
        keys = ProviderKeys.set(
            settings.keyURLs, algorithms: ["RS256"], transport: transport, timeoutMilliseconds: settings.timeoutMilliseconds, clock: clock)
    }

    func assertion(_ parameters: ProviderParameters) async throws(AssertionError) -> Assertion {
        if let token = parameters["id_token"] {
            var assertion = try await limited(token, rawNonce: parameters["nonce"])
            assertion.accessToken = parameters["access_token"]
            return assertion
        }
        guard let token = parameters["access_token"] else {
            throw .invalid("Facebook credentials need an access_token, or an id_token with its raw nonce.")
        }
        return try await classic(token)
    }

    // MARK: Limited Login

    private func limited(_ token: String, rawNonce: String?) async throws(AssertionError) -> Assertion {
        var rules = IDTokenRules(provider: Self.id, issuers: settings.issuers, audiences: [settings.appID])
        rules.requiresType = true
        rules.requiresNonce = true
        rules.ageSecondsMax = 3600
        let claims = try await rules.verified(token, nonce: .raw(rawNonce), keys: keys, ledger: ledger, now: clock.now())
        var assertion = Assertion(provider: Self.id, claims: claims, emailIsVerified: settings.trustsEmail)
        assertion.idToken = token
        return assertion
    }

    // MARK: Classic login

    func classic(_ token: String) async throws(AssertionError) -> Assertion {
        guard token.utf8.count <= 4096 else { throw .invalid("The access token is too long.") }
        // Facebook would answer "Bad signature", which helps nobody.
        guard !Self.isIDToken(token) else {
            throw .invalid("Facebook access_token is a Limited Login token; send it as id_token with its raw nonce.")
        }
        let user = try await checkedUser(token)
        let profile = try await profile(token)
        guard profile["id"]?.string == user.id else { throw Self.generic }
        var assertion = Assertion(provider: Self.id, rawID: user.id)
        assertion.email = Assertion.email(profile["email"])
        assertion.isEmailVerified = assertion.email != nil && settings.trustsEmail
        assertion.displayName = Assertion.text(profile["name"])
        assertion.firstName = Assertion.text(profile["first_name"])
        assertion.lastName = Assertion.text(profile["last_name"])
        assertion.photoURL = Assertion.text(profile["picture"]?["data"]?["url"], bytesMax: 4096)
        assertion.profile = profile
        assertion.accessToken = token
        assertion.accessTokenSeconds = user.expires == 0 ? nil : user.expires - clock.now()
        return assertion
    }

    /// Asks Facebook which app and person a token is for. A token of another app must not sign in here.
    private func checkedUser(_ token: String) async throws(AssertionError) -> (id: String, expires: Int) {
        let answer = try await get(
            "debug_token", [("input_token", token), ("access_token", "\(settings.appID)|\(settings.appSecret)")])
        guard answer.status == 200, let data = answer.json?["data"] else { throw Self.refusal(answer.json?["error"]) }
        guard data["is_valid"]?.bool == true else { throw Self.refusal(data["error"]) }
        // Old versions write a number.
        let app = data["app_id"]?.string ?? data["app_id"]?.int.map { String($0) }
        guard app == settings.appID else { throw .invalid("The access token was issued for a different Facebook app.") }
        guard data["type"]?.string == "USER", let id = data["user_id"]?.string ?? data["user_id"]?.int.map({ String($0) }),
            1...255 ~= id.utf8.count, let expires = data["expires_at"]?.int, expires == 0 || expires > clock.now()
        else { throw Self.generic }
        return (id, expires)
    }

    private func profile(_ token: String) async throws(AssertionError) -> JSONObject {
        let proof = HMAC<SHA256>.authenticationCode(for: Array(token.utf8), using: SymmetricKey(data: Array(settings.appSecret.utf8)))
        let answer = try await get(
            "me",
            [
                ("fields", "id,name,first_name,last_name,middle_name,email,picture.type(large){url,is_silhouette}"),
                ("access_token", token), ("appsecret_proof", IDTokenRules.hex(proof)),
            ])
        guard answer.status == 200, let profile = answer.json?.object else { throw Self.generic }
        return profile
    }

    /// A request to the Graph API. Its address has secrets: it appears in no error and no log.
    func get(_ path: String, _ parameters: [(String, String)]) async throws(AssertionError) -> ProviderAnswer {
        var request = ProviderRequest(url: "\(settings.graphBaseURL)/\(path)?\(FormText.query(parameters))")
        request.timeoutMilliseconds = settings.timeoutMilliseconds
        guard let answer = await transport.exchange(request) else { throw .remote(Self.id) }
        return answer
    }

    // MARK: Errors

    static let generic = AssertionError.invalid("Invalid access_token, error code 43.")

    /// Facebook's refusal, without its text: that may repeat the token.
    private static func refusal(_ error: JSONValue?) -> AssertionError {
        var shown = JSONObject()
        if let type = error?["type"]?.string, type.utf8.count <= 64 { shown["type"] = .string(type) }
        shown["code"] = error?["code"]?.int.map { .int(Int64($0)) }
        let subcode = (error?["error_subcode"] ?? error?["subcode"])?.int
        shown["error_subcode"] = subcode.map { .int(Int64($0)) }
        let hint: String? =
            switch subcode {
            case 458: "the person has not accepted the app"
            case 460: "the person has changed the password"
            case 463: "the token has expired"
            case 464: "the person's account is not confirmed"
            case 467: "the token is no longer valid"
            default: nil
            }
        let text = "Unsuccessful debug_token response from Facebook: \(JSONValue.object(["error": .object(shown)]))"
        return .invalid(hint.map { "\(text) (\($0))" } ?? text)
    }

    /// Whether a text has the form of a JSON Web Token.
    private static func isIDToken(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return parts.count == 3
            && parts.allSatisfy { part in
                !part.isEmpty
                    && part.allSatisfy { 48...57 ~= $0 || 65...90 ~= $0 || 97...122 ~= $0 || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
            }
    }
}
