internal import HearthJSON

/// The operation that waits for a blocking function.
public struct AuthBlockingEvent: Sendable {
    /// The user: as it is about to be stored, or to sign in. Nil for messages, whose recipient is in ``additionalUserInfo``.
    public let data: AuthUserRecord?
    /// The id of the event.
    public let id: String
    /// `providers/cloud.auth/eventTypes/user.beforeCreate:password`, with the method of the sign-in at its end.
    public let type: String
    /// When the function was asked, in RFC 3339.
    public let time: String
    /// The tenant of the user; nil for the project itself.
    public let tenantID: String?
    /// The client's address; nil where it is unknown, behind a proxy that the host does not trust.
    public let ipAddress: String?
    /// The program of the client.
    public let userAgent: String?
    /// The language that the client prefers.
    public let locale: String?
    /// The provider, and what it says about the user.
    public let additionalUserInfo: AdditionalUserInfo
    /// The credential of an identity provider, as far as the function has asked for its parts.
    public let credential: AuthCredential?
    /// `phone` or `totp` for a sign-in with a second factor.
    public let secondFactor: String?
    /// The type of the mail, of `BeforeEmailSent`.
    public let emailType: EmailType?
    /// The type of the text message, of `BeforeSMSSent`.
    public let smsType: SMSType?
    private let invocation: Invocation

    /// The type of a mail.
    public enum EmailType: String, Sendable {
        /// A link that signs in.
        case emailSignIn = "EMAIL_SIGN_IN"
        /// A link that resets a password.
        case passwordReset = "PASSWORD_RESET"
    }

    /// The type of a text message.
    public enum SMSType: String, Sendable {
        /// A code for a sign-in or a sign-up.
        case signInOrSignUp = "SIGN_IN_OR_SIGN_UP"
        /// A code for a second factor.
        case multiFactorSignIn = "MULTI_FACTOR_SIGN_IN"
        /// A code for a second factor that is being enrolled.
        case multiFactorEnrollment = "MULTI_FACTOR_ENROLLMENT"
    }

    /// The time at which the function's task is cancelled, and the operation fails.
    public var deadline: ContinuousClock.Instant? { invocation.deadline }
    /// The call's place in a trace, as a W3C `traceparent`.
    public var traceparent: String? { invocation.context.traceparent }

    init(_ invocation: Invocation) {
        let record = try? invocation.withPayload { try JSONValue(parsing: $0) }
        data = record.flatMap { AuthUserRecord(json: $0) }
        let head = invocation.context.event ?? [:]
        id = head["id"]?.string ?? ""
        type = head["type"]?.string ?? ""
        time = head["time"]?.string ?? ""
        tenantID = head["tenantId"]?.string
        ipAddress = head["ipAddress"]?.string
        userAgent = head["userAgent"]?.string
        locale = head["locale"]?.string
        additionalUserInfo = AdditionalUserInfo(head["additionalUserInfo"] ?? [:])
        credential = head["credential"].map { AuthCredential($0) }
        secondFactor = head["secondFactor"]?.string
        emailType = head["emailType"]?.string.flatMap { EmailType(rawValue: $0) }
        smsType = head["smsType"]?.string.flatMap { SMSType(rawValue: $0) }
        self.invocation = invocation
    }
}

/// The provider of a sign-in, and what it says about the user.
public struct AdditionalUserInfo: Sendable, Equatable {
    /// Such as `password`, `phone` or `google.com`.
    public let providerID: String?
    /// The provider's own data about the user.
    public let profile: JSONValue?
    /// The user's name at the provider.
    public let username: String?
    /// Whether the user is created.
    public let isNewUser: Bool
    /// The recipient of a mail.
    public let email: String?
    /// The recipient of a text message.
    public let phoneNumber: String?

    init(_ json: JSONValue) {
        providerID = json["providerId"]?.string
        profile = json["profile"]
        username = json["username"]?.string
        isNewUser = json["isNewUser"]?.bool ?? false
        email = json["email"]?.string
        phoneNumber = json["phoneNumber"]?.string
    }
}

/// The credential of an identity provider. A token is there if the function has asked for it in its ``BlockingCredentials``.
public struct AuthCredential: Sendable, Equatable {
    /// Attributes that a provider of OpenID Connect asserts.
    public let claims: JSONValue?
    /// The ID token.
    public let idToken: String?
    /// The access token.
    public let accessToken: String?
    /// The refresh token.
    public let refreshToken: String?
    /// The secret of an access token of OAuth 1.
    public let secret: String?
    /// Such as `google.com`.
    public let providerID: String
    /// Such as `google.com`.
    public let signInMethod: String

    init(_ json: JSONValue) {
        claims = json["claims"]
        idToken = json["idToken"]?.string
        accessToken = json["accessToken"]?.string
        refreshToken = json["refreshToken"]?.string
        secret = json["secret"]?.string
        providerID = json["providerId"]?.string ?? ""
        signInMethod = json["signInMethod"]?.string ?? ""
    }
}

/// Overrides the decision about a request that looks like one of a program.
public enum RecaptchaAction: String, Sendable {
    /// The request goes on.
    case allow = "ALLOW"
    /// The request is refused.
    case block = "BLOCK"
}
