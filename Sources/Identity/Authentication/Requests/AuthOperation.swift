/// The operations of the protocol, by their names in version 1 and 2 of its paths.
enum AuthOperation: String {
    // Operations on users.
    case signUp = "accounts:signUp"
    case signInWithPassword = "accounts:signInWithPassword"
    case signInWithIdp = "accounts:signInWithIdp"
    case signInWithCustomToken = "accounts:signInWithCustomToken"
    case signInWithEmailLink = "accounts:signInWithEmailLink"
    case sendVerificationCode = "accounts:sendVerificationCode"
    case signInWithPhoneNumber = "accounts:signInWithPhoneNumber"
    case createAuthURI = "accounts:createAuthUri"
    case lookup = "accounts:lookup"
    case update = "accounts:update"
    case delete = "accounts:delete"
    case sendOobCode = "accounts:sendOobCode"
    case resetPassword = "accounts:resetPassword"
    case revokeToken = "accounts:revokeToken"
    case verifyIosClient = "accounts:verifyIosClient"
    case startEnrolment = "accounts/mfaEnrollment:start"
    case finishEnrolment = "accounts/mfaEnrollment:finalize"
    case withdraw = "accounts/mfaEnrollment:withdraw"
    case startSecondFactor = "accounts/mfaSignIn:start"
    case finishSecondFactor = "accounts/mfaSignIn:finalize"
    case token
    // Configuration that everybody may read.
    case projects, recaptchaParams, recaptchaConfig, passwordPolicy
    case sessionCookieKeys = "sessionCookiePublicKeys"
    // Operations for administrators.
    case create = "accounts"
    case batchGet = "accounts:batchGet"
    case batchCreate = "accounts:batchCreate"
    case batchDelete = "accounts:batchDelete"
    case query = "accounts:query"
    case queryAccounts = "accounts:queryAccounts"
    case createSessionCookie
    case config, tenants
    case oauthProviders = "oauthIdpConfigs"
    case samlProviders = "inboundSamlConfigs"
    case standardProviders = "defaultSupportedIdpConfigs"
    // Keys.
    case certificates, keys, discovery, sessionCertificates
    // Development.
    case emulatorAccounts, emulatorConfig, emulatorCodes, emulatorMessages, emulatorAction
    /// A path of the protocol that names no operation.
    case unknown

    /// Names of version 3 of the protocol, which the SDK for Apple platforms uses.
    static let legacy: [String: AuthOperation] = [
        "signupNewUser": .signUp, "verifyPassword": .signInWithPassword, "verifyAssertion": .signInWithIdp,
        "verifyCustomToken": .signInWithCustomToken, "emailLinkSignin": .signInWithEmailLink, "verifyPhoneNumber": .signInWithPhoneNumber,
        "sendVerificationCode": .sendVerificationCode, "createAuthUri": .createAuthURI, "getAccountInfo": .lookup, "setAccountInfo": .update,
        "deleteAccount": .delete, "resetPassword": .resetPassword, "getOobConfirmationCode": .sendOobCode, "getProjectConfig": .projects,
        "getRecaptchaParam": .recaptchaParams, "publicKeys": .sessionCertificates, "downloadAccount": .batchGet,
        "uploadAccount": .batchCreate, "verifyClient": .verifyIosClient,
    ]

    /// Whether only administrators may use the operation.
    var isForAdministrators: Bool {
        switch self {
        case .create, .batchGet, .batchCreate, .batchDelete, .query, .queryAccounts, .createSessionCookie, .config, .tenants, .oauthProviders,
            .samlProviders, .standardProviders:
            true
        default: false
        }
    }

    /// Whether the operation needs no API key.
    var isOpen: Bool {
        switch self {
        case .certificates, .keys, .discovery, .sessionCertificates, .sessionCookieKeys, .unknown, .emulatorAction: true
        default: false
        }
    }

    /// Whether the operation exists in development only.
    var isOfEmulator: Bool {
        switch self {
        case .emulatorAccounts, .emulatorConfig, .emulatorCodes, .emulatorMessages, .emulatorAction: true
        default: false
        }
    }

    /// The most bytes of a body.
    var bodyBytesMax: Int { self == .batchCreate ? 10 << 20 : 1 << 20 }
}
