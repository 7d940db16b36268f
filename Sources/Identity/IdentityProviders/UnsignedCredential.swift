import HearthBytes
import HearthJSON

/// Credentials of development: a JSON object or an unchecked token in place of a provider's (spec auth 3.7). Nothing is verified.
enum UnsignedCredential {
    private static let limits = JSONLimits(depthMax: 64)

    static func assertion(_ provider: String, _ parameters: ProviderParameters) throws(AssertionError) -> Assertion {
        guard let text = parameters["id_token"] ?? parameters["access_token"], text.utf8.count <= 64 * 1024, let claims = claims(text) else {
            throw AssertionError(
                "The Auth Emulator does not support \(provider) sign-in with credentials.", status: 501, statusName: "NOT_IMPLEMENTED")
        }
        guard let rawID = claims["sub"]?.string, !rawID.isEmpty else {
            throw .invalid(
                "Invalid Idp Response: id_token missing required fields. ((Missing \"sub\" field. "
                    + "This field is required and must be a unique identifier.))")
        }
        var assertion = Assertion(provider: provider, rawID: rawID)
        assertion.email = Assertion.email(claims["email"])
        assertion.isEmailVerified = claims["email_verified"]?.bool ?? false
        assertion.displayName = claims["name"]?.string
        assertion.firstName = claims["given_name"]?.string
        assertion.lastName = claims["family_name"]?.string
        assertion.screenName = claims["screen_name"]?.string
        assertion.photoURL = claims["picture"]?.string
        assertion.profile = claims
        assertion.idToken = parameters["id_token"]
        assertion.accessToken = parameters["access_token"] ?? "FirebaseAuthEmulatorFakeAccessToken_\(provider)"
        return assertion
    }

    private static func claims(_ text: String) -> JSONObject? {
        if text.hasPrefix("{") { return (try? JSONValue(parsing: text, limits: limits))?.object }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        // Tools that write unsigned tokens may pad them.
        let payload = parts[1].prefix { $0 != "=" }
        return Base64URL.bytes(String(payload)).flatMap { (try? JSONValue(parsing: $0, limits: limits))?.object }
    }
}
