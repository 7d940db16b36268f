internal import HearthFunctions
internal import HearthJSON

/// Answers the calls of the service `auth` of a test's body, outside of any function, over the identity protocol of a host.
struct HostUsers {
    private let backend: HostBackend

    init(_ backend: HostBackend) { self.backend = backend }

    func answer(_ method: String, _ payload: JSONValue) async throws -> ServiceOutcome {
        let body = payload.object ?? [:]
        var place = "/identitytoolkit.googleapis.com/v1/projects/\(backend.project)"
        switch method {
        case "accounts:create": place += "/accounts"
        case "createSessionCookie": place += ":createSessionCookie"
        case _ where method.hasPrefix("accounts:"): place += "/\(method)"
        default: throw HttpsError(.unimplemented, "On a host, \(method) can be used in functions only.")
        }
        let answer = try await backend.administer(
            "POST", place, headers: [("Content-Type", "application/json")], body: JSONValue.object(body).serialized())
        let value = (try? JSONValue(parsing: answer.body)) ?? .null
        if answer.status == 200 { return ServiceOutcome(isOK: true, body: answer.body) }
        let message = value["error"]?["message"]?.string ?? "The host answered \(answer.status)."
        let words = message.split(separator: " ").first.map(String.init) ?? ""
        let reasons = [
            "USER_NOT_FOUND": "user-not-found", "EMAIL_EXISTS": "email-already-exists", "PHONE_NUMBER_EXISTS": "phone-number-already-exists",
            "DUPLICATE_LOCAL_ID": "uid-already-exists", "INVALID_EMAIL": "invalid-email", "WEAK_PASSWORD": "invalid-password",
            "INVALID_PHONE_NUMBER": "invalid-phone-number", "FORBIDDEN_CLAIM": "forbidden-claim", "CLAIMS_TOO_LARGE": "claims-too-large",
            "EMAIL_NOT_FOUND": "email-not-found", "TENANT_NOT_FOUND": "tenant-not-found",
        ]
        let reason = reasons[words] ?? "internal-error"
        let error: JSONValue = ["code": "failed-precondition", "message": .string(message), "details": ["reason": .string(reason)]]
        return ServiceOutcome(isOK: false, body: error.serialized())
    }
}
