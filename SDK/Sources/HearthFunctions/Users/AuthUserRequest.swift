internal import HearthJSON

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
    public var providerToLink: AuthUserInfo?
    /// The properties to remove; for ``Auth/updateUser(_:_:)`` only.
    public var removing: [Property]

    /// Properties; those that are left out stay as they are.
    public init(
        uid: String? = nil, email: String? = nil, emailVerified: Bool? = nil, password: String? = nil, displayName: String? = nil,
        photoURL: String? = nil, phoneNumber: String? = nil, disabled: Bool? = nil, providerToLink: AuthUserInfo? = nil,
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
