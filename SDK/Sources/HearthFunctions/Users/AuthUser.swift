internal import HearthJSON

/// A user of the host.
public struct AuthUser: Sendable, Hashable {
    /// The id, of 1 to 128 characters.
    public let uid: String
    /// The e-mail, in lower case.
    public let email: String?
    /// Whether the user has shown that the e-mail is theirs.
    public let emailVerified: Bool
    /// The name for people.
    public let displayName: String?
    /// The address of a picture.
    public let photoURL: String?
    /// The phone number, such as "+15555550100".
    public let phoneNumber: String?
    /// Whether the user cannot sign in.
    public let disabled: Bool
    /// The custom claims.
    public let customClaims: JSONObject
    /// The tenant; nil for a user of the project itself.
    public let tenantID: String?
    /// The ways to sign in: "password", "phone", and linked accounts of identity providers.
    public let providerData: [AuthProviderInfo]
    /// The second factors.
    public let multiFactor: [AuthFactorInfo]
    /// The time of creation, in milliseconds since 1970.
    public let creationTime: Int64
    /// The time of the last sign-in, in milliseconds since 1970; nil if there was none.
    public let lastSignInTime: Int64?
    /// ID tokens from before are revoked. In seconds since 1970.
    public let tokensValidAfter: Int64?
    /// The hash of the password, as the host stores it, in Base64; nil without a password.
    public let passwordHash: String?

    init(_ json: JSONValue) {
        func text(_ name: String) -> String? { json[name]?.string }
        func number(_ name: String) -> Int64? { text(name).flatMap { Int64($0) } ?? json[name]?.int.map { Int64($0) } }
        uid = text("localId") ?? ""
        email = text("email")
        emailVerified = json["emailVerified"]?.bool ?? false
        displayName = text("displayName")
        photoURL = text("photoUrl")
        phoneNumber = text("phoneNumber")
        disabled = json["disabled"]?.bool ?? false
        customClaims = text("customAttributes").flatMap { try? JSONValue(parsing: $0) }?.object ?? [:]
        tenantID = text("tenantId")
        providerData = (json["providerUserInfo"]?.array ?? []).map(AuthProviderInfo.init)
        multiFactor = (json["mfaInfo"]?.array ?? []).map { AuthFactorInfo(account: $0) }
        creationTime = number("createdAt") ?? 0
        lastSignInTime = number("lastLoginAt")
        tokensValidAfter = number("validSince")
        passwordHash = text("passwordHash")
    }
}

/// A way to sign in.
public struct AuthProviderInfo: Sendable, Hashable {
    /// "password", "phone", or an identity provider such as "facebook.com".
    public var providerID: String
    /// The provider's id of the user.
    public var uid: String
    /// The e-mail at the provider.
    public var email: String?
    /// The name at the provider.
    public var displayName: String?
    /// The picture at the provider.
    public var photoURL: String?

    /// An account of an identity provider.
    public init(providerID: String, uid: String, email: String? = nil, displayName: String? = nil, photoURL: String? = nil) {
        self.providerID = providerID
        self.uid = uid
        self.email = email
        self.displayName = displayName
        self.photoURL = photoURL
    }

    init(_ json: JSONValue) {
        self.init(
            providerID: json["providerId"]?.string ?? "", uid: json["rawId"]?.string ?? "", email: json["email"]?.string,
            displayName: json["displayName"]?.string, photoURL: json["photoUrl"]?.string)
    }

    var fields: JSONValue {
        var fields: JSONObject = ["providerId": .string(providerID), "rawId": .string(uid)]
        fields["email"] = email.map { .string($0) }
        fields["displayName"] = displayName.map { .string($0) }
        fields["photoUrl"] = photoURL.map { .string($0) }
        return .object(fields)
    }
}

extension AuthFactorInfo {
    /// Reads a factor in the form of the identity protocol.
    init(account json: JSONValue) {
        let number = json["phoneInfo"]?.string
        self.init(
            uid: json["mfaEnrollmentId"]?.string ?? "", factorID: number == nil ? "totp" : "phone", displayName: json["displayName"]?.string,
            enrollmentTime: json["enrolledAt"]?.string, phoneNumber: number)
    }
}

/// The properties of a user to set, and those to remove.
///
///     try await auth.updateUser(uid, AuthUserRequest(email: "ada@example.com", emailVerified: true, removing: [.phoneNumber]))
public struct AuthUserRequest: Sendable, Hashable {
    /// A property that can be removed from a user.
    public enum Property: Sendable, Hashable {
        case displayName, photoURL, phoneNumber, email, password
        /// All second factors.
        case multiFactor
        /// The linked account of an identity provider.
        case provider(String)
    }

    /// The id of a new user.
    public var uid: String?
    /// The e-mail.
    public var email: String?
    /// Whether the e-mail is verified.
    public var emailVerified: Bool?
    /// The password, which the host hashes.
    public var password: String?
    /// The name for people.
    public var displayName: String?
    /// The address of a picture.
    public var photoURL: String?
    /// The phone number, such as "+15555550100".
    public var phoneNumber: String?
    /// Whether the user cannot sign in.
    public var disabled: Bool?
    /// An account of an identity provider to link; for ``Auth/updateUser(_:_:)`` only.
    public var providerToLink: AuthProviderInfo?
    /// The properties to remove; for ``Auth/updateUser(_:_:)`` only.
    public var removing: [Property]

    /// Properties; those that are left out stay as they are.
    public init(
        uid: String? = nil, email: String? = nil, emailVerified: Bool? = nil, password: String? = nil, displayName: String? = nil,
        photoURL: String? = nil, phoneNumber: String? = nil, disabled: Bool? = nil, providerToLink: AuthProviderInfo? = nil,
        removing: [Property] = []
    ) {
        self.uid = uid
        self.email = email
        self.emailVerified = emailVerified
        self.password = password
        self.displayName = displayName
        self.photoURL = photoURL
        self.phoneNumber = phoneNumber
        self.disabled = disabled
        self.providerToLink = providerToLink
        self.removing = removing
    }

    private var common: JSONObject {
        var fields = JSONObject()
        let texts: [(String, String?)] = [
            ("email", email), ("password", password), ("displayName", displayName), ("photoUrl", photoURL), ("phoneNumber", phoneNumber),
        ]
        for (name, text) in texts { fields[name] = text.map { .string($0) } }
        fields["emailVerified"] = emailVerified.map { .bool($0) }
        return fields
    }

    /// The payload that creates a user.
    var creation: JSONObject {
        var fields = common
        fields["localId"] = uid.map { .string($0) }
        fields["disabled"] = disabled.map { .bool($0) }
        return fields
    }

    /// The payload that changes the user with this id.
    func change(of uid: String) -> JSONObject {
        var fields = common
        fields["localId"] = .string(uid)
        fields["disableUser"] = disabled.map { .bool($0) }
        fields["linkProviderUserInfo"] = providerToLink?.fields
        var (attributes, providers): ([JSONValue], [JSONValue]) = ([], [])
        for property in removing {
            switch property {
            case .displayName: attributes.append("DISPLAY_NAME")
            case .photoURL: attributes.append("PHOTO_URL")
            case .email: attributes.append("EMAIL")
            case .password: attributes.append("PASSWORD")
            case .phoneNumber: providers.append("phone")
            case .multiFactor: fields["mfa"] = ["enrollments": []]
            case .provider(let id): providers.append(.string(id))
            }
        }
        if !attributes.isEmpty { fields["deleteAttribute"] = .array(attributes) }
        if !providers.isEmpty { fields["deleteProvider"] = .array(providers) }
        return fields
    }
}
