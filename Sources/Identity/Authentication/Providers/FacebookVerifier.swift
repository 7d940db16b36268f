public import Accounts
import Crypto
import HearthBytes
import HearthJSON
public import HTTP
public import Tokens

/// The settings of Facebook.
public struct FacebookSettings: Sendable {
    public var appID: String
    public var appSecret: String
    /// The address of the Graph API, with its version.
    public var graphURL: String
    public var issuers: [String]
    /// Whether the e-mails of Facebook count as verified.
    public var trustsEmail: Bool
    public var timeoutMilliseconds: Int

    /// Settings of an app.
    public init(appID: String, appSecret: String, graphURL: String, issuers: [String], trustsEmail: Bool, timeoutMilliseconds: Int) {
        self.appID = appID
        self.appSecret = appSecret
        self.graphURL = graphURL
        self.issuers = issuers
        self.trustsEmail = trustsEmail
        self.timeoutMilliseconds = timeoutMilliseconds
    }
}

/// Verifies the credentials of Facebook (spec auth 3): access tokens of the classic login, and ID tokens of the limited one.
public struct FacebookVerifier: Sendable {
    private let settings: FacebookSettings
    private let client: HTTPClient
    private let signatures: SignatureCheck
    private let clock: @Sendable () -> Int64
    private static let skewSeconds: Int64 = 60

    /// - Parameters:
    ///   - signatures: checks signatures with Facebook's published keys.
    ///   - clock: milliseconds since 1970.
    public init(_ settings: FacebookSettings, client: HTTPClient, signatures: SignatureCheck, clock: @escaping @Sendable () -> Int64) {
        self.settings = settings
        self.client = client
        self.signatures = signatures
        self.clock = clock
    }

    /// Verifies a credential.
    public func assertion(_ credential: ProviderCredential) async -> Result<ProviderAssertion, AuthError> {
        let parameters = credential.parameters
        do throws(AuthError) {
            if let token = parameters["id_token"], !token.isEmpty {
                return .success(try await limited(token, nonce: parameters["nonce"] ?? "", accessToken: parameters["access_token"]))
            }
            guard let token = parameters["access_token"], !token.isEmpty else {
                throw Self.invalid("The credential has neither an access_token nor an id_token.")
            }
            return .success(ProviderAssertion(identity: try await classic(token)))
        } catch {
            return .failure(error)
        }
    }

    private static func invalid(_ reason: String) -> AuthError { AuthError("INVALID_IDP_RESPONSE", reason) }

    // MARK: Classic login

    private func classic(_ token: String) async throws(AuthError) -> ProviderIdentity {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        if parts.count == 3, parts.allSatisfy({ !$0.isEmpty && Base64URL.bytes(String($0)) != nil }) {
            throw Self.invalid("Facebook access_token is a Limited Login token; send it as id_token with its raw nonce.")
        }
        let appToken = FormText.encoded("\(settings.appID)|\(settings.appSecret)")
        let checked = try await get("debug_token?input_token=\(FormText.encoded(token))&access_token=\(appToken)")
        let data = checked["data"]
        guard checked["error"] == nil, data?["is_valid"]?.bool == true else {
            throw Self.invalid("Unsuccessful debug_token response from Facebook: \(Self.shown(checked["error"] ?? data?["error"]))")
        }
        let app = data?["app_id"]?.string ?? data?["app_id"]?.int.map { String($0) }
        // Otherwise a token that another app got from its users would sign in as them.
        guard app == settings.appID else { throw Self.invalid("The access token was issued for a different Facebook app.") }
        guard data?["type"]?.string == "USER", let user = data?["user_id"]?.string, !user.isEmpty else {
            throw Self.invalid("The access token is not that of a user.")
        }
        let expires = Int64(data?["expires_at"]?.int ?? -1)
        guard expires == 0 || expires > clock() / 1000 else { throw Self.invalid("Invalid access_token, error code 43.") }
        let proof = HMAC<SHA256>.authenticationCode(for: Array(token.utf8), using: SymmetricKey(data: Array(settings.appSecret.utf8)))
        let fields = FormText.encoded("id,name,first_name,last_name,middle_name,email,picture.type(large){url,is_silhouette}")
        let profile = try await get(
            "me?fields=\(fields)&access_token=\(FormText.encoded(token))&appsecret_proof=\(proof.map { Self.hexadecimal($0) }.joined())")
        guard profile["error"] == nil, profile["id"]?.string == user else { throw Self.invalid("Invalid access_token, error code 43.") }
        var identity = ProviderIdentity(provider: "facebook.com", rawID: user)
        identity.email = profile["email"]?.string.map { AccountText.canonical(email: $0) }.flatMap { AccountText.isEmail($0) ? $0 : nil }
        identity.isEmailVerified = settings.trustsEmail && identity.email != nil
        identity.displayName = profile["name"]?.string
        identity.photoURL = profile["picture"]?["data"]?["url"]?.string
        identity.answer["fullName"] = profile["name"]
        identity.answer["firstName"] = profile["first_name"]
        identity.answer["lastName"] = profile["last_name"]
        identity.answer["rawUserInfo"] = .string("\(profile)")
        identity.answer["oauthAccessToken"] = .string(token)
        return identity
    }

    /// The parts of an error that help, and nothing else: the rest may repeat the token.
    private static func shown(_ error: JSONValue?) -> JSONValue {
        var shown = JSONObject()
        for name in ["type", "code", "error_subcode", "subcode"] { shown[name] = error?[name] }
        return ["error": .object(shown)]
    }

    private static func hexadecimal(_ byte: UInt8) -> String { (byte < 16 ? "0" : "") + String(byte, radix: 16) }

    /// Asks the Graph API; once more if it does not answer.
    private func get(_ path: String) async throws(AuthError) -> JSONValue {
        for _ in 0..<2 {
            let request = ClientRequest(
                url: "\(settings.graphURL)/\(path)", timeoutMilliseconds: settings.timeoutMilliseconds, responseBytesMax: 1 << 18)
            let response: ClientResponse
            do throws(ClientError) { response = try await client.send(request) } catch { continue }
            guard response.status < 500 else { continue }
            guard let value = try? JSONValue(parsing: response.body, limits: JSONLimits(depthMax: 64)), value.object != nil,
                response.status != 200 || value["error"] == nil
            else { break }
            return value
        }
        throw Self.unavailable
    }

    private static let unavailable = AuthError(
        "INVALID_IDP_RESPONSE", "Remote site 5XX from facebook.com for VERIFY_CREDENTIAL", status: 503, statusName: "UNAVAILABLE",
        reason: "backendError")

    // MARK: Limited login

    private func limited(_ token: String, nonce: String, accessToken: String?) async throws(AuthError) -> ProviderAssertion {
        let claims: JSONObject
        // A task of its own: a signature is not verified on the loop.
        switch await Task { [signatures] in await signatures.payload(of: token) }.value {
        case .success(let payload): claims = payload
        case .failure(.keysUnavailable): throw Self.unavailable
        case .failure(.malformed): throw Self.invalid("Unable to parse the ID token.")
        case .failure: throw Self.invalid("The ID token is not signed by Facebook.")
        }
        guard let issuer = claims["iss"]?.string, settings.issuers.contains(issuer) else { throw Self.invalid("The ID token has another issuer.") }
        guard claims["aud"]?.string == settings.appID || claims["aud"]?.array == [.string(settings.appID)] else {
            throw Self.invalid("The ID token audience does not match.")
        }
        let now = clock() / 1000
        guard case .int(let expires)? = claims["exp"], case .int(let issued)? = claims["iat"], expires > now - Self.skewSeconds,
            issued <= now + Self.skewSeconds, issued >= now - 3600 - Self.skewSeconds
        else { throw Self.invalid("ID Token is stale to sign-in.") }
        guard let user = claims["sub"]?.string, !user.isEmpty else { throw Self.invalid("The ID token has no subject.") }
        try Self.check(nonce: nonce, claims["nonce"]?.string)
        var identity = ProviderIdentity(provider: "facebook.com", rawID: user)
        identity.email = claims["email"]?.string.map { AccountText.canonical(email: $0) }.flatMap { AccountText.isEmail($0) ? $0 : nil }
        identity.isEmailVerified = settings.trustsEmail && identity.email != nil
        identity.displayName = claims["name"]?.string
        identity.photoURL = claims["picture"]?.string
        var shown = claims
        for name in ["nonce", "jti", "cnf"] { shown[name] = nil }
        identity.answer["fullName"] = claims["name"]
        identity.answer["firstName"] = claims["given_name"]
        identity.answer["lastName"] = claims["family_name"]
        identity.answer["rawUserInfo"] = .string("\(JSONValue.object(shown))")
        identity.answer["oauthIdToken"] = .string(token)
        identity.answer["oauthAccessToken"] = accessToken.map { .string($0) }
        return ProviderAssertion(
            identity: identity, onceKey: "facebook.com \(claims["jti"]?.string ?? token)", onceExpires: expires + Self.skewSeconds)
    }

    /// Checks that the client knows the text whose hash is in the token.
    static func check(nonce: String, _ claimed: String?) throws(AuthError) {
        let code = "MISSING_OR_INVALID_NONCE"
        guard let claimed, !claimed.isEmpty else { throw AuthError(code, "The ID token has no nonce.") }
        guard !nonce.isEmpty else { throw AuthError(code, "Nonce is missing in the request.") }
        let hash = SHA256.hash(data: Array(nonce.utf8)).map { hexadecimal($0) }.joined()
        guard Array(hash.utf8).span.equalsInConstantTime(Array(claimed.utf8)) else {
            throw AuthError(code, "The nonce in ID Token does not match the SHA256 hash of the raw nonce in the request.")
        }
    }
}
