import HearthJSON

/// The fields of users in files, and their names in the protocol.
enum UserFields {
    /// The fields that the Firebase tools read and write, by their names in files.
    static let common = [
        "localId", "email", "emailVerified", "passwordHash", "salt", "displayName", "photoUrl", "lastSignedInAt", "createdAt", "phoneNumber",
        "disabled", "customAttributes", "providerUserInfo",
    ]
    /// The fields of a complete export, which other programs refuse.
    static let further = ["passwordHashParameters", "passwordUpdatedAt", "validSince", "mfaInfo"]
    /// The fields of a linked account.
    static let ofProvider = ["providerId", "rawId", "email", "displayName", "photoUrl"]
    private static let furtherOfProvider = ["federatedId", "screenName", "phoneNumber"]
    private static let known = Set(common + further + ["lastLoginAt"])
    private static let knownOfProvider = Set(ofProvider + furtherOfProvider)

    /// A user of a file in the names of the protocol.
    static func checked(_ object: JSONObject) -> Result<JSONObject, UserRowFault> {
        var user = object
        for (name, value) in object where value.isNull { user.removeValue(forKey: name) }
        let uid = user["localId"]?.string
        if let unknown = user.keys.first(where: { !known.contains($0) }) {
            return .failure(UserRowFault("the field \(unknown) is unknown", uid: uid))
        }
        if let time = user.removeValue(forKey: "lastSignedInAt"), user["lastLoginAt"] == nil { user["lastLoginAt"] = time }
        for name in ["passwordHash", "salt"] {
            guard let value = user[name] else { continue }
            guard let text = value.string, let normal = FileBase64.normal(text) else {
                return .failure(UserRowFault("the field \(name) must be in Base64", uid: uid))
            }
            user[name] = normal.isEmpty ? nil : .string(normal)
        }
        if let providers = user["providerUserInfo"] {
            guard let list = providers.array else { return .failure(UserRowFault("the field providerUserInfo must be an array", uid: uid)) }
            for provider in list {
                guard let members = provider.object else {
                    return .failure(UserRowFault("an element of providerUserInfo must be an object", uid: uid))
                }
                if let unknown = members.keys.first(where: { !knownOfProvider.contains($0) }) {
                    return .failure(UserRowFault("the field providerUserInfo.\(unknown) is unknown", uid: uid))
                }
            }
        }
        return .success(user)
    }
}

/// Users in the columns of the Firebase tools.
enum CSVUser {
    /// The identity providers with columns, from column 7 on (counted from 0): id, e-mail, name and photo of each.
    static let providers = ["google.com", "facebook.com", "twitter.com", "github.com"]
    private static let firstProviderColumn = 7
    private static let columns = 28

    /// A user of a record.
    static func user(_ record: [String]) -> Result<JSONObject, UserRowFault> {
        var fields = record.map(\.trimmed)
        // Some programs end each record with a comma.
        while fields.count > columns, fields.last?.isEmpty == true { fields.removeLast() }
        let uid = fields.first.flatMap { $0.isEmpty ? nil : $0 }
        guard fields.count <= columns else { return .failure(UserRowFault("there are \(fields.count) columns instead of \(columns)", uid: uid)) }
        fields += [String](repeating: "", count: columns - fields.count)
        var user = JSONObject()
        func set(_ name: String, _ column: Int) { if !fields[column].isEmpty { user[name] = .string(fields[column]) } }
        for (name, column) in [
            ("localId", 0), ("email", 1), ("passwordHash", 3), ("salt", 4), ("displayName", 5), ("photoUrl", 6), ("createdAt", 23),
            ("lastLoginAt", 24), ("phoneNumber", 25), ("customAttributes", 27),
        ] { set(name, column) }
        for (name, column) in [("emailVerified", 2), ("disabled", 26)] where !fields[column].isEmpty {
            guard let value = ["true": true, "false": false][fields[column].lowercased()] else {
                return .failure(UserRowFault("column \(column + 1) must be true or false", uid: uid))
            }
            user[name] = .bool(value)
        }
        var links: [JSONValue] = []
        for (index, provider) in providers.enumerated() {
            let first = firstProviderColumn + 4 * index
            guard !fields[first].isEmpty else { continue }
            var link: JSONObject = ["providerId": .string(provider), "rawId": .string(fields[first])]
            for (offset, name) in ["email", "displayName", "photoUrl"].enumerated() where !fields[first + 1 + offset].isEmpty {
                link[name] = .string(fields[first + 1 + offset])
            }
            links.append(.object(link))
        }
        if !links.isEmpty { user["providerUserInfo"] = .array(links) }
        return UserFields.checked(user)
    }

    /// The record of a user in the names of files, with the line's end.
    static func record(_ user: JSONObject) -> String {
        var fields = [String](repeating: "", count: columns)
        for (name, column) in [
            ("localId", 0), ("email", 1), ("passwordHash", 3), ("salt", 4), ("displayName", 5), ("photoUrl", 6), ("createdAt", 23),
            ("lastSignedInAt", 24), ("phoneNumber", 25), ("customAttributes", 27),
        ] { fields[column] = user[name].map { $0.string ?? $0.description } ?? "" }
        fields[2] = user["emailVerified"]?.bool == true ? "true" : "false"
        fields[26] = user["disabled"]?.bool == true ? "true" : "false"
        for link in user["providerUserInfo"]?.array ?? [] {
            guard let index = providers.firstIndex(of: link["providerId"]?.string ?? "") else { continue }
            for (offset, name) in ["rawId", "email", "displayName", "photoUrl"].enumerated() {
                fields[firstProviderColumn + 4 * index + offset] = link[name]?.string ?? ""
            }
        }
        // The tools end each record with a comma.
        return fields.map(quoted).joined(separator: ",") + ",\n"
    }

    private static func quoted(_ field: String) -> String {
        // A byte order mark in front would be taken for that of the file.
        let needsQuotes = field.unicodeScalars.contains { ",\"\n\r \u{FEFF}".unicodeScalars.contains($0) }
        return needsQuotes ? "\"\(field.replacing("\"", with: "\"\""))\"" : field
    }
}

extension String {
    /// The text without white space at its ends.
    fileprivate var trimmed: String {
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
        guard let first = utf8.first, let last = utf8.last, isSpace(first) || isSpace(last) else { return self }
        let start = utf8.firstIndex { !isSpace($0) } ?? endIndex
        let end = utf8.lastIndex { !isSpace($0) }.map { utf8.index(after: $0) } ?? start
        return String(self[start..<end])
    }
}
