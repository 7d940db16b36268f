import Accounts
import HearthBytes
import HearthJSON

/// Users in the form of the protocol.
enum UserAnswer {
    /// The readers of a user's data.
    enum Reader {
        /// The user, or a client with the user's token.
        case user(isStrict: Bool)
        case administrator
        /// The administrator's export: imported hashes with their parameters, which include keys.
        case exporter
    }

    /// A user of `accounts:lookup` and lists.
    static func user(_ user: UserRecord, for reader: Reader) -> JSONValue {
        var object: JSONObject = ["localId": .string(user.uid), "createdAt": .string(String(user.created))]
        object["email"] = user.email.map { .string($0) }
        object["initialEmail"] = user.initialEmail.map { .string($0) }
        if user.email != nil || user.isEmailVerified { object["emailVerified"] = .bool(user.isEmailVerified) }
        if user.usesEmailLink { object["emailLinkSignin"] = true }
        writePassword(user, reader, to: &object)
        object["displayName"] = user.displayName.map { .string($0) }
        object["photoUrl"] = user.photoURL.map { .string($0) }
        object["phoneNumber"] = user.phone.map { .string($0) }
        if user.isDisabled { object["disabled"] = true }
        if user.usesCustomToken { object["customAuth"] = true }
        object["customAttributes"] = user.customAttributes.map { .string($0) }
        object["validSince"] = user.validSinceSeconds.map { .string(String($0)) }
        object["lastLoginAt"] = user.lastLogin.map { .string(String($0)) }
        object["lastRefreshAt"] = user.lastRefresh.map { .string(TimeText.text(milliseconds: $0)) }
        if !user.tenant.isEmpty { object["tenantId"] = .string(user.tenant) }
        for (name, value) in user.profile { object[name] = value }
        let providers = providers(user)
        if !providers.isEmpty { object["providerUserInfo"] = .array(providers) }
        if !user.factors.isEmpty { object["mfaInfo"] = .array(user.factors.map { factor($0, showsPhone: true) }) }
        return .object(object)
    }

    /// The text that stands for a hash which is not shown.
    static let redacted = "UkVEQUNURUQ="

    private static func writePassword(_ user: UserRecord, _ reader: Reader, to object: inout JSONObject) {
        guard let hash = user.passwordHash else { return }
        object["passwordUpdatedAt"] = .int(user.passwordChanged)
        if case .exporter = reader, let imported = user.importedHash?.object {
            var parameters = imported
            object["passwordHash"] = .string(hash)
            object["salt"] = parameters.removeValue(forKey: "salt") ?? ""
            object["passwordHashParameters"] = .object(parameters)
            return
        }
        if case .user = reader {
            object["passwordHash"] = .string(redacted)
        } else {
            object["passwordHash"] = .string(Base64.text(Array(hash.utf8)))
            // The hash contains its salt; the field is there for clients that need it.
            object["salt"] = ""
        }
    }

    /// The linked accounts, with the entries for password and phone.
    static func providers(_ user: UserRecord) -> [JSONValue] {
        var entries: [JSONValue] = []
        if user.hasEmailSignIn, let email = user.email {
            var entry: JSONObject = [
                "providerId": "password", "email": .string(email), "federatedId": .string(email), "rawId": .string(email),
            ]
            entry["displayName"] = user.displayName.map { .string($0) }
            entry["photoUrl"] = user.photoURL.map { .string($0) }
            entries.append(.object(entry))
        }
        for link in user.providers {
            var entry: JSONObject = ["providerId": .string(link.provider), "rawId": .string(link.rawID), "federatedId": .string(link.rawID)]
            entry["displayName"] = link.displayName.map { .string($0) }
            entry["email"] = link.email.map { .string($0) }
            entry["photoUrl"] = link.photoURL.map { .string($0) }
            entry["screenName"] = link.screenName.map { .string($0) }
            entry["phoneNumber"] = link.phone.map { .string($0) }
            entries.append(.object(entry))
        }
        if let phone = user.phone { entries.append(["providerId": "phone", "phoneNumber": .string(phone), "rawId": .string(phone)]) }
        return entries
    }

    /// A second factor.
    ///
    /// - Parameter showsPhone: whether the number can be read; otherwise only its last four digits.
    static func factor(_ factor: SecondFactor, showsPhone: Bool) -> JSONValue {
        var object: JSONObject = ["mfaEnrollmentId": .string(factor.id), "enrolledAt": .string(TimeText.text(milliseconds: factor.enrolled))]
        object["displayName"] = factor.displayName.map { .string($0) }
        if let phone = factor.phone {
            object["phoneInfo"] = .string(showsPhone ? phone : AccountText.obfuscated(phone: phone))
        } else {
            object["totpInfo"] = .object(JSONObject())
        }
        return .object(object)
    }
}
