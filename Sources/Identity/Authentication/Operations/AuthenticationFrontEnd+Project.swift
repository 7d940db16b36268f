import Accounts
import HearthJSON

/// The configuration that clients read.
extension AuthenticationFrontEnd {
    func projectForClients(_ call: AuthCall) async throws(AuthError) -> JSONValue {
        [
            "projectId": .string(service.policy.projectNumber),
            "authorizedDomains": .array(service.settings.authorizedDomains.map { .string($0) }),
        ]
    }

    func recaptchaParameters() -> JSONValue {
        if let key = service.settings.recaptchaSiteKey {
            return ["kind": "identitytoolkit#GetRecaptchaParamResponse", "recaptchaSiteKey": .string(key)]
        }
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
