import HearthBytes
public import HearthJSON

/// A user as functions see it: the record of Cloud Functions, without hashes and secrets.
extension UserRecord {
    /// `uid`, `email`, `emailVerified`, `displayName`, `photoURL`, `phoneNumber`, `disabled`, `metadata`, `customClaims`, `providerData`,
    /// `tenantId` and `multiFactor`. Members without a value are absent.
    public var fields: JSONObject {
        var object: JSONObject = ["uid": .string(uid)]
        object["email"] = email.map { .string($0) }
        object["emailVerified"] = .bool(isEmailVerified)
        object["displayName"] = displayName.map { .string($0) }
        object["photoURL"] = photoURL.map { .string($0) }
        object["phoneNumber"] = phone.map { .string($0) }
        object["disabled"] = .bool(isDisabled)
        var metadata: JSONObject = ["creationTime": .string(TimeText.text(milliseconds: created))]
        metadata["lastSignInTime"] = lastLogin.map { .string(TimeText.text(milliseconds: $0)) }
        object["metadata"] = .object(metadata)
        object["customClaims"] = .object(customAttributes.flatMap { (try? JSONValue(parsing: $0))?.object } ?? JSONObject())
        object["providerData"] = .array(providerFields)
        if !tenant.isEmpty { object["tenantId"] = .string(tenant) }
        if !factors.isEmpty { object["multiFactor"] = ["enrolledFactors": .array(factors.map(\.fields))] }
        return object
    }

    private var providerFields: [JSONValue] {
        var entries: [JSONValue] = []
        if hasEmailSignIn, let email {
            var entry: JSONObject = ["providerId": "password", "uid": .string(email), "email": .string(email)]
            entry["displayName"] = displayName.map { .string($0) }
            entry["photoURL"] = photoURL.map { .string($0) }
            entries.append(.object(entry))
        }
        for link in providers {
            var entry: JSONObject = ["providerId": .string(link.provider), "uid": .string(link.rawID)]
            entry["email"] = link.email.map { .string($0) }
            entry["displayName"] = link.displayName.map { .string($0) }
            entry["photoURL"] = link.photoURL.map { .string($0) }
            entry["phoneNumber"] = link.phone.map { .string($0) }
            entries.append(.object(entry))
        }
        if let phone { entries.append(["providerId": "phone", "uid": .string(phone), "phoneNumber": .string(phone)]) }
        return entries
    }
}

extension SecondFactor {
    fileprivate var fields: JSONValue {
        var object: JSONObject = [
            "uid": .string(id), "factorId": phone == nil ? "totp" : "phone", "enrollmentTime": .string(TimeText.text(milliseconds: enrolled)),
        ]
        object["displayName"] = displayName.map { .string($0) }
        object["phoneNumber"] = phone.map { .string($0) }
        return .object(object)
    }
}
