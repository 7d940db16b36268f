internal import HearthBytes
internal import HearthJSON

// The form of the identity protocol, in which the service `auth` answers.

extension AuthUserRecord {
    /// Reads a user.
    init(account json: JSONValue) {
        func text(_ name: String) -> String? { json[name]?.string }
        func number(_ name: String) -> Int64? { text(name).flatMap { Int64($0) } ?? json[name]?.int.map { Int64($0) } }
        func time(_ name: String) -> String? { number(name).map { TimeText.text(milliseconds: $0) } }
        self.init(
            uid: text("localId") ?? "", email: text("email"), emailVerified: json["emailVerified"]?.bool ?? false, displayName: text("displayName"),
            photoURL: text("photoUrl"), phoneNumber: text("phoneNumber"), disabled: json["disabled"]?.bool ?? false,
            metadata: AuthUserMetadata(creationTime: time("createdAt"), lastSignInTime: time("lastLoginAt")),
            customClaims: text("customAttributes").flatMap { try? JSONValue(parsing: $0) }?.object ?? [:],
            providerData: (json["providerUserInfo"]?.array ?? []).map { AuthUserInfo(account: $0) }, tenantID: text("tenantId"),
            enrolledFactors: (json["mfaInfo"]?.array ?? []).map { AuthFactorInfo(account: $0) })
        tokensValidAfter = number("validSince")
        passwordHash = text("passwordHash")
    }
}

extension AuthUserInfo {
    /// Reads a way to sign in.
    init(account json: JSONValue) {
        self.init(
            uid: json["rawId"]?.string ?? "", providerID: json["providerId"]?.string ?? "", displayName: json["displayName"]?.string,
            email: json["email"]?.string, photoURL: json["photoUrl"]?.string, phoneNumber: json["phoneNumber"]?.string)
    }

    /// The account to link or to import.
    var fields: JSONValue {
        var fields: JSONObject = ["providerId": .string(providerID), "rawId": .string(uid)]
        fields["email"] = email.map { .string($0) }
        fields["displayName"] = displayName.map { .string($0) }
        fields["photoUrl"] = photoURL.map { .string($0) }
        return .object(fields)
    }
}

extension AuthFactorInfo {
    /// Reads a second factor.
    init(account json: JSONValue) {
        let number = json["phoneInfo"]?.string
        self.init(
            uid: json["mfaEnrollmentId"]?.string ?? "", factorID: number == nil ? "totp" : "phone", displayName: json["displayName"]?.string,
            enrollmentTime: json["enrolledAt"]?.string, phoneNumber: number)
    }
}
