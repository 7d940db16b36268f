public import HearthJSON

/// A user of the host: the answer of ``Auth``, and what functions of ``OnUserCreated``, ``OnUserDeleted``, ``BeforeUserCreated`` and
/// ``BeforeUserSignedIn`` get.
public struct AuthUserRecord: Sendable, Hashable {
    /// The id, of 1 to 128 characters.
    public var uid: String
    /// In lower case.
    public var email: String?
    /// Whether the user has proved to own the e-mail.
    public var emailVerified: Bool
    /// The name that the user has given.
    public var displayName: String?
    /// The address of the user's picture.
    public var photoURL: String?
    /// In international form, such as "+15555550100".
    public var phoneNumber: String?
    /// Whether the user may not sign in.
    public var disabled: Bool
    /// When the user was created, and has signed in last.
    public var metadata: AuthUserMetadata
    /// The claims that an administrator has set, an object.
    public var customClaims: JSONObject
    /// The ways in which the user can sign in.
    public var providerData: [AuthUserInfo]
    /// The tenant of the user; nil for users of the project itself.
    public var tenantID: String?
    /// The second factors.
    public var enrolledFactors: [AuthFactorInfo]
    /// ID tokens from before are revoked. In seconds since 1970. Functions that run on users do not get it.
    public var tokensValidAfter: Int64?
    /// The hash of the password as the host stores it, in Base64; nil without a password. Functions that run on users do not get it.
    public var passwordHash: String?

    /// A user, for tests. What is not given is absent, false or empty.
    public init(
        uid: String, email: String? = nil, emailVerified: Bool = false, displayName: String? = nil, photoURL: String? = nil,
        phoneNumber: String? = nil, disabled: Bool = false, metadata: AuthUserMetadata = AuthUserMetadata(), customClaims: JSONObject = [:],
        providerData: [AuthUserInfo] = [], tenantID: String? = nil, enrolledFactors: [AuthFactorInfo] = []
    ) {
        self.uid = uid
        self.email = email
        self.emailVerified = emailVerified
        self.displayName = displayName
        self.photoURL = photoURL
        self.phoneNumber = phoneNumber
        self.disabled = disabled
        self.metadata = metadata
        self.customClaims = customClaims
        self.providerData = providerData
        self.tenantID = tenantID
        self.enrolledFactors = enrolledFactors
    }
}

/// The times of a user, in RFC 3339, such as "2026-11-21T16:04:05.123Z".
public struct AuthUserMetadata: Sendable, Hashable {
    /// When the user was created.
    public var creationTime: String?
    /// When the user has signed in last; nil if never.
    public var lastSignInTime: String?

    /// Times, for tests.
    public init(creationTime: String? = nil, lastSignInTime: String? = nil) {
        self.creationTime = creationTime
        self.lastSignInTime = lastSignInTime
    }
}

/// A way in which a user can sign in, or an account of an identity provider to link, with what the provider says about the user.
public struct AuthUserInfo: Sendable, Hashable {
    /// The user's id at the provider; the e-mail for `password`, the number for `phone`.
    public var uid: String
    /// Such as `password`, `phone` or `google.com`.
    public var providerID: String
    /// The name there.
    public var displayName: String?
    /// The e-mail there.
    public var email: String?
    /// The address of the picture there.
    public var photoURL: String?
    /// The phone number there.
    public var phoneNumber: String?

    /// An entry; for an account to link, `uid` is the provider's own id of the user.
    public init(
        uid: String, providerID: String, displayName: String? = nil, email: String? = nil, photoURL: String? = nil, phoneNumber: String? = nil
    ) {
        self.uid = uid
        self.providerID = providerID
        self.displayName = displayName
        self.email = email
        self.photoURL = photoURL
        self.phoneNumber = phoneNumber
    }
}

/// A second factor of a user.
public struct AuthFactorInfo: Sendable, Hashable {
    /// The id of the enrolment.
    public var uid: String
    /// `phone` or `totp`.
    public var factorID: String
    /// The name that the user has given.
    public var displayName: String?
    /// When it was enrolled, in RFC 3339.
    public var enrollmentTime: String?
    /// The number for text messages.
    public var phoneNumber: String?

    /// A factor, for tests.
    public init(
        uid: String, factorID: String, displayName: String? = nil, enrollmentTime: String? = nil, phoneNumber: String? = nil
    ) {
        self.uid = uid
        self.factorID = factorID
        self.displayName = displayName
        self.enrollmentTime = enrollmentTime
        self.phoneNumber = phoneNumber
    }
}

// MARK: JSON, as hearth.h describes it

extension AuthUserRecord {
    /// Reads a record; nil if it has no uid.
    package init?(json: JSONValue) {
        guard let uid = json["uid"]?.string else { return nil }
        let metadata = AuthUserMetadata(
            creationTime: json["metadata"]?["creationTime"]?.string, lastSignInTime: json["metadata"]?["lastSignInTime"]?.string)
        self.init(
            uid: uid, email: json["email"]?.string, emailVerified: json["emailVerified"]?.bool ?? false,
            displayName: json["displayName"]?.string, photoURL: json["photoURL"]?.string, phoneNumber: json["phoneNumber"]?.string,
            disabled: json["disabled"]?.bool ?? false, metadata: metadata, customClaims: json["customClaims"]?.object ?? [:],
            providerData: (json["providerData"]?.array ?? []).compactMap(AuthUserInfo.init), tenantID: json["tenantId"]?.string,
            enrolledFactors: (json["multiFactor"]?["enrolledFactors"]?.array ?? []).compactMap(AuthFactorInfo.init))
    }

    /// The record as the host writes it.
    package var json: JSONValue {
        var object: JSONObject = ["uid": .string(uid)]
        object["email"] = email.map { .string($0) }
        object["emailVerified"] = .bool(emailVerified)
        object["displayName"] = displayName.map { .string($0) }
        object["photoURL"] = photoURL.map { .string($0) }
        object["phoneNumber"] = phoneNumber.map { .string($0) }
        object["disabled"] = .bool(disabled)
        var times = JSONObject()
        times["creationTime"] = metadata.creationTime.map { .string($0) }
        times["lastSignInTime"] = metadata.lastSignInTime.map { .string($0) }
        object["metadata"] = .object(times)
        object["customClaims"] = .object(customClaims)
        object["providerData"] = .array(providerData.map(\.json))
        object["tenantId"] = tenantID.map { .string($0) }
        if !enrolledFactors.isEmpty { object["multiFactor"] = ["enrolledFactors": .array(enrolledFactors.map(\.json))] }
        return .object(object)
    }
}

extension AuthUserInfo {
    fileprivate init?(_ json: JSONValue) {
        guard let uid = json["uid"]?.string, let provider = json["providerId"]?.string else { return nil }
        self.init(
            uid: uid, providerID: provider, displayName: json["displayName"]?.string, email: json["email"]?.string,
            photoURL: json["photoURL"]?.string, phoneNumber: json["phoneNumber"]?.string)
    }

    fileprivate var json: JSONValue {
        var object: JSONObject = ["uid": .string(uid), "providerId": .string(providerID)]
        object["displayName"] = displayName.map { .string($0) }
        object["email"] = email.map { .string($0) }
        object["photoURL"] = photoURL.map { .string($0) }
        object["phoneNumber"] = phoneNumber.map { .string($0) }
        return .object(object)
    }
}

extension AuthFactorInfo {
    fileprivate init?(_ json: JSONValue) {
        guard let uid = json["uid"]?.string, let factor = json["factorId"]?.string else { return nil }
        self.init(
            uid: uid, factorID: factor, displayName: json["displayName"]?.string, enrollmentTime: json["enrollmentTime"]?.string,
            phoneNumber: json["phoneNumber"]?.string)
    }

    fileprivate var json: JSONValue {
        var object: JSONObject = ["uid": .string(uid), "factorId": .string(factorID)]
        object["displayName"] = displayName.map { .string($0) }
        object["enrollmentTime"] = enrollmentTime.map { .string($0) }
        object["phoneNumber"] = phoneNumber.map { .string($0) }
        return .object(object)
    }
}
