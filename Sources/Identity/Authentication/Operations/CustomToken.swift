import Accounts
import EventLoop
import HearthBytes
import HearthJSON
import Tokens

/// A custom token: made by a server with the key of a service account, exchanged by a client for a session (spec auth 1.3).
struct CustomToken {
    let uid: String
    let tenant: String?
    let claims: JSONObject

    private static let skewSeconds = 5
    private static let limits = JSONLimits(depthMax: 64)

    /// Parses a token of the emulator: a JSON object, or a token whose signature does not count.
    init(unsigned text: String) throws(AuthError) {
        if let object = (try? JSONValue(parsing: text, limits: Self.limits))?.object {
            try self.init(object)
            return
        }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let payload = Self.object(String(parts[1])) else { throw Self.invalid("Invalid assertion format") }
        guard payload["aud"]?.string == HostTokenAccount.audience else { throw Self.wrongAudience(payload["aud"]) }
        try self.init(payload)
    }

    /// Parses a token, and verifies it with the key of its issuer.
    init(signed text: String, accounts: AccountKeys, nowSeconds: Int) throws(AuthError) {
        let payload: JSONObject
        do throws(TokenRefusal) {
            payload = try accounts.verify(text, audience: HostTokenAccount.audience, now: nowSeconds, clockSkewSeconds: Self.skewSeconds)
        } catch {
            switch error {
            case .issuer: throw AuthError("CREDENTIAL_MISMATCH")
            case .malformed, .tooLong: throw Self.invalid("Invalid assertion format")
            case .audience: throw Self.wrongAudience(nil)
            case .expired: throw Self.invalid("the token has expired")
            default: throw Self.invalid("the token is not one that this service account has signed for the next hour")
            }
        }
        try self.init(payload)
    }

    /// The token of a verified payload.
    init(_ payload: JSONObject) throws(AuthError) {
        guard let uid = payload["uid"]?.string ?? payload["user_id"]?.string, !uid.isEmpty else { throw AuthError("MISSING_IDENTIFIER") }
        guard AccountText.isUserID(uid) else { throw Self.invalid("uid must have 1 to 128 characters") }
        self.uid = uid
        tenant = payload["tenant_id"]?.string
        switch payload["claims"] {
        case nil, .null?: claims = JSONObject()
        case .object(let claims)?:
            try ReservedClaims.check(claims)
            self.claims = claims
        default: throw AuthError("INVALID_CLAIMS")
        }
    }

    private static func object(_ part: String) -> JSONObject? {
        Base64URL.bytes(part).flatMap { (try? JSONValue(parsing: $0, limits: limits))?.object }
    }

    private static func invalid(_ reason: String) -> AuthError { AuthError("INVALID_CUSTOM_TOKEN", reason) }

    private static func wrongAudience(_ found: JSONValue?) -> AuthError {
        invalid("((Invalid audience (aud): \(found?.string ?? "undefined"), expected \(HostTokenAccount.audience)))")
    }
}

extension AuthenticationFrontEnd {
    /// The payload of a custom token that the host has signed for a function; nil for tokens of service accounts.
    private func ownPayload(_ text: String) async throws(AuthError) -> JSONObject? {
        guard let verifier = service.tools.customTokens?.verifier else { return nil }
        let bytes = Array(text.utf8)
        let result = await Task { await verifier.verify(bytes) }.value
        switch result {
        case .success(let token): return (try? JSONValue(parsing: token.claims))?.object
        case .failure(.expired): throw AuthError("INVALID_CUSTOM_TOKEN", "the token has expired")
        case .failure: return nil
        }
    }

    func signInWithCustomToken(_ call: AuthCall) async throws(AuthError) -> JSONValue {
        guard let text = try call.body.text("token") else { throw AuthError("MISSING_CUSTOM_TOKEN") }
        let token: CustomToken
        if isStrict {
            let (known, now) = (service.settings.serviceAccounts, Int(service.policy.clock() / 1000))
            if let payload = try await ownPayload(text) {
                token = try CustomToken(payload)
            } else {
                // A signature is not verified on the loop.
                token = try await loop.offload { () throws(AuthError) in try CustomToken(signed: text, accounts: known, nowSeconds: now) }
            }
        } else {
            token = try CustomToken(unsigned: text)
        }
        let named = try call.namedTenant()
        guard named == nil || token.tenant == named else { throw AuthError("TENANT_ID_MISMATCH") }
        let tenant = token.tenant ?? ""
        _ = try await rules(tenant)
        let signedIn = try await accounts.perform(on: loop) { store throws(AccountFailure) in
            try store.signIn(customUser: token.uid, claims: token.claims, tenant: tenant)
        }
        var fields: JSONObject = ["kind": "identitytoolkit#VerifyCustomTokenResponse", "isNewUser": .bool(signedIn.isNew)]
        for (name, value) in try await tokenFields(signedIn) { fields[name] = value }
        return .object(fields)
    }
}
