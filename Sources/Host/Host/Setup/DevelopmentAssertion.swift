import Accounts
import Authentication
import HearthBytes
import HearthJSON

/// Credentials of development: an unsigned JSON object in place of a provider's token (spec auth 3.7).
enum DevelopmentAssertion {
    static func identity(_ credential: ProviderCredential) throws(AuthError) -> ProviderIdentity {
        let (provider, parameters) = (credential.provider, credential.parameters)
        guard let text = parameters["id_token"] ?? parameters["access_token"], let claims = claims(text) else {
            throw AuthError(
                "The Auth Emulator does not support \(provider) sign-in with credentials.", status: 501, statusName: "NOT_IMPLEMENTED",
                reason: "unimplemented")
        }
        guard let rawID = claims["sub"]?.string else {
            throw AuthError(
                "INVALID_IDP_RESPONSE",
                "Invalid Idp Response: id_token missing required fields. ((Missing \"sub\" field. This field is required and must be a unique "
                    + "identifier.))")
        }
        var identity = ProviderIdentity(provider: provider, rawID: rawID)
        identity.email = claims["email"]?.string.map { AccountText.canonical(email: $0) }
        identity.isEmailVerified = claims["email_verified"]?.bool ?? false
        identity.displayName = claims["name"]?.string
        identity.photoURL = claims["picture"]?.string
        identity.screenName = claims["screen_name"]?.string
        identity.answer["rawUserInfo"] = .string("\(JSONValue.object(claims))")
        identity.answer["fullName"] = claims["name"]
        identity.answer["firstName"] = claims["given_name"]
        identity.answer["lastName"] = claims["family_name"]
        identity.answer["oauthIdToken"] = parameters["id_token"].map { .string($0) }
        identity.answer["oauthAccessToken"] = .string(
            parameters["access_token"] ?? "FirebaseAuthEmulatorFakeAccessToken_\(provider)")
        return identity
    }

    private static func claims(_ text: String) -> JSONObject? {
        if text.hasPrefix("{") { return (try? JSONValue(parsing: text, limits: JSONLimits(depthMax: 64)))?.object }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        return Base64URL.bytes(String(parts[1])).flatMap { (try? JSONValue(parsing: $0, limits: JSONLimits(depthMax: 64)))?.object }
    }
}
