internal import HearthJSON

/// The reason why the host refused an operation on users, with the codes of the Firebase Admin SDKs.
public struct FirebaseAuthError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The codes of the Admin SDKs.
    public enum Code: String, Sendable, CaseIterable {
        /// A value is missing or not valid, or a token is not one of this host.
        case argumentError = "auth/argument-error"
        case claimsTooLarge = "auth/claims-too-large"
        /// Another identity provider has the id.
        case configurationExists = "auth/configuration-exists"
        /// There is no such identity provider.
        case configurationNotFound = "auth/configuration-not-found"
        /// The account of an identity provider is linked to another user.
        case credentialAlreadyInUse = "auth/credential-already-in-use"
        case emailAlreadyExists = "auth/email-already-exists"
        /// There is no user with the e-mail of a link.
        case emailNotFound = "auth/email-not-found"
        case forbiddenClaim = "auth/forbidden-claim"
        case idTokenExpired = "auth/id-token-expired"
        case idTokenRevoked = "auth/id-token-revoked"
        /// The plugin may not use the service: `auth.plugins` in functions.json does not name it.
        case insufficientPermission = "auth/insufficient-permission"
        /// An error of the host itself.
        case internalError = "auth/internal-error"
        case invalidArgument = "auth/invalid-argument"
        case invalidClaims = "auth/invalid-claims"
        /// A setting of the project, of a tenant or of an identity provider is not valid.
        case invalidConfig = "auth/invalid-config"
        case invalidContinueURI = "auth/invalid-continue-uri"
        case invalidEmail = "auth/invalid-email"
        case invalidHostingLinkDomain = "auth/invalid-hosting-link-domain"
        case invalidIDToken = "auth/invalid-id-token"
        case invalidNewEmail = "auth/invalid-new-email"
        case invalidPassword = "auth/invalid-password"
        case invalidPhoneNumber = "auth/invalid-phone-number"
        case invalidProviderID = "auth/invalid-provider-id"
        case invalidProviderUID = "auth/invalid-provider-uid"
        case invalidSessionCookieDuration = "auth/invalid-session-cookie-duration"
        case invalidTenantID = "auth/invalid-tenant-id"
        case invalidTestingPhoneNumber = "auth/invalid-testing-phone-number"
        case invalidUID = "auth/invalid-uid"
        case maximumUserCountExceeded = "auth/maximum-user-count-exceeded"
        case mismatchingTenantID = "auth/mismatching-tenant-id"
        /// The way to sign in is turned off, or there is no such operation.
        case operationNotAllowed = "auth/operation-not-allowed"
        case phoneNumberAlreadyExists = "auth/phone-number-already-exists"
        case resetPasswordExceedLimit = "auth/reset-password-exceed-limit"
        case secondFactorUIDAlreadyExists = "auth/second-factor-uid-already-exists"
        case sessionCookieExpired = "auth/session-cookie-expired"
        case sessionCookieRevoked = "auth/session-cookie-revoked"
        case tenantNotFound = "auth/tenant-not-found"
        case tooManyRequests = "auth/too-many-requests"
        case uidAlreadyExists = "auth/uid-already-exists"
        case unauthorizedContinueURI = "auth/unauthorized-continue-uri"
        /// The store of users does not answer: try again.
        case unavailable = "auth/unavailable"
        case userDisabled = "auth/user-disabled"
        case userNotFound = "auth/user-not-found"
    }

    /// The kind of refusal.
    public var code: Code
    /// A sentence for the log.
    public var message: String

    /// An error as the host makes it, for tests of a plugin.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// "auth/user-not-found: There is no such user."
    public var description: String { "\(code.rawValue): \(message)" }

    /// The service's error: `{"code", "message", "details": {"reason"}}`.
    init(failure: JSONValue) {
        let reason = failure["details"]?["reason"]?.string.flatMap { Code(rawValue: "auth/\($0)") }
        let code: Code = failure["code"]?.string == "unavailable" ? .unavailable : .internalError
        self.init(reason ?? code, failure["message"]?.string ?? "The service failed without saying why.")
    }
}

extension HttpsError {
    /// The error for a caller of the function, made from an error of the service.
    ///
    ///     do { ... } catch let error as FirebaseAuthError { throw HttpsError(error) }
    public init(_ error: FirebaseAuthError) {
        let code: Code =
            switch error.code {
            case .userNotFound, .emailNotFound, .tenantNotFound, .configurationNotFound: .notFound
            case .emailAlreadyExists, .phoneNumberAlreadyExists, .uidAlreadyExists, .credentialAlreadyInUse, .secondFactorUIDAlreadyExists,
                .configurationExists:
                .alreadyExists
            case .idTokenExpired, .idTokenRevoked, .sessionCookieExpired, .sessionCookieRevoked: .unauthenticated
            case .insufficientPermission, .userDisabled, .mismatchingTenantID: .permissionDenied
            case .resetPasswordExceedLimit, .tooManyRequests: .resourceExhausted
            case .operationNotAllowed, .unauthorizedContinueURI: .failedPrecondition
            case .unavailable: .unavailable
            case .internalError: .internal
            default: .invalidArgument
            }
        self.init(code, error.message)
    }
}
