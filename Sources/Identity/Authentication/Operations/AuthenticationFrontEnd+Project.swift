import Accounts
import HearthJSON

/// The configuration that clients read.
extension AuthenticationFrontEnd {
    func projectForClients(_ call: AuthCall) async throws(AuthError) -> JSONValue {
        let domains = try await authorizedDomains()
        return ["projectId": .string(service.policy.projectNumber), "authorizedDomains": .array(domains.map { .string($0) })]
    }

    /// The key with which a page shows a reCAPTCHA. In production there is none without `auth.recaptcha`: a made-up one would let the page show an
    /// error of Google's, while text messages need no token then.
    func recaptchaParameters() -> JSONValue {
        if let key = service.settings.recaptchaSiteKey {
            return ["kind": "identitytoolkit#GetRecaptchaParamResponse", "recaptchaSiteKey": .string(key)]
        }
        guard !isStrict else { return ["kind": "identitytoolkit#GetRecaptchaParamResponse"] }
        return [
            "kind": "identitytoolkit#GetRecaptchaParamResponse",
            "recaptchaStoken": "This-is-a-fake-token__Dont-send-this-to-the-Recaptcha-service__Auth-Emulator",
            "recaptchaSiteKey": "Fake-key__Do-not-send-this-to-Recaptcha_",
        ]
    }

    func recaptchaConfiguration() -> JSONValue {
        [
            "recaptchaKey": .string("projects/\(service.policy.project)/keys/none"),
            "recaptchaEnforcementState": [
                ["provider": "EMAIL_PASSWORD_PROVIDER", "enforcementState": "OFF"], ["provider": "PHONE_PROVIDER", "enforcementState": "OFF"],
            ],
        ]
    }

    func passwordPolicy(_ call: AuthCall) async throws(AuthError) -> JSONValue {
        PasswordRules.answer(try await rules(try call.tenant()).passwordPolicy)
    }

    /// The discovery document of the issuer of ID tokens.
    func discovery(_ call: AuthCall) -> JSONValue {
        [
            "issuer": .string(service.policy.issuer),
            "jwks_uri": .string("\(call.base)/www.googleapis.com/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com"),
            "response_types_supported": ["id_token"], "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
        ]
    }
}
