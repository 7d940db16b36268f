/// An error of the protocol (spec auth 5). Clients back off by its status: a day at 403 and 404 on the web, at 400 and 404 on Android and Apple's
/// systems. So 403 is for a definitive rejection only, and trouble of this host or of another server is 503.
public struct AppCheckError: Error, Sendable, Equatable {
    /// The status code.
    public let code: Int
    /// The name of the status, such as `PERMISSION_DENIED`.
    public let status: String
    /// The text for the developer.
    public let message: String

    private init(_ code: Int, _ status: String, _ message: String) {
        self.code = code
        self.status = status
        self.message = message
    }

    /// The client has not proved that it is the app.
    static let rejected = AppCheckError(403, "PERMISSION_DENIED", "App attestation failed.")
    static let unavailable = AppCheckError(503, "UNAVAILABLE", "The service is currently unavailable.")
    static let exhausted = AppCheckError(429, "RESOURCE_EXHAUSTED", "Too many attempts.")
    static let unknownApp = AppCheckError(404, "NOT_FOUND", "App not found.")
    static let notFound = AppCheckError(404, "NOT_FOUND", "Requested entity was not found.")
    static let unauthenticated = AppCheckError(
        401, "UNAUTHENTICATED", "Request is missing required authentication credential. Expected OAuth 2 access token or other valid credential.")
    static let invalidKey = AppCheckError(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.")
    static let invalidToken = AppCheckError(403, "PERMISSION_DENIED", "App Check token is invalid.")

    static func invalid(_ message: String) -> AppCheckError { AppCheckError(400, "INVALID_ARGUMENT", message) }
    static func notConfigured(_ provider: String) -> AppCheckError {
        AppCheckError(400, "FAILED_PRECONDITION", "\(provider) is not configured on this host.")
    }
}
