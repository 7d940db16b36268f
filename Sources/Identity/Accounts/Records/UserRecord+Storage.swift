import HearthBytes
import HearthJSON

/// The stored form of a user: a JSON object with short names. Tenant and id are columns of their own.
extension UserRecord {
    /// - Parameter seal: encrypts the secrets of second factors.
    func stored(_ seal: FactorSeal) -> JSONValue {
        var object = JSONObject()
        object["e"] = email.map { .string($0) }
        object["ie"] = initialEmail.map { .string($0) }
        if isEmailVerified { object["ev"] = true }
        if usesEmailLink { object["el"] = true }
        object["ph"] = passwordHash.map { .string($0) }
        object["pi"] = importedHash
        if passwordChanged != 0 { object["pc"] = .int(passwordChanged) }
        object["n"] = displayName.map { .string($0) }
        object["p"] = photoURL.map { .string($0) }
        object["t"] = phone.map { .string($0) }
        if isDisabled { object["d"] = true }
        if usesCustomToken { object["ct"] = true }
        object["ca"] = customAttributes.map { .string($0) }
        object["vs"] = validSinceSeconds.map { .int($0) }
        object["c"] = .int(created)
        object["ll"] = lastLogin.map { .int($0) }
        object["lr"] = lastRefresh.map { .int($0) }
        if !profile.isEmpty { object["x"] = .object(profile) }
        if !providers.isEmpty { object["l"] = .array(providers.map(\.stored)) }
        if !factors.isEmpty { object["m"] = .array(factors.map { $0.stored(seal, "\(tenant)\0\(uid)") }) }
        return .object(object)
    }

    /// Reads the stored form; nil if it is damaged.
    init?(tenant: String, uid: String, stored: JSONValue, _ seal: FactorSeal) {
        guard let object = stored.object, let created = object["c"]?.int else { return nil }
        self.init(tenant: tenant, uid: uid, created: Int64(created))
        email = object["e"]?.string
        initialEmail = object["ie"]?.string
        isEmailVerified = object["ev"]?.bool ?? false
        usesEmailLink = object["el"]?.bool ?? false
        passwordHash = object["ph"]?.string
        importedHash = object["pi"]
        passwordChanged = Int64(object["pc"]?.int ?? 0)
        displayName = object["n"]?.string
        photoURL = object["p"]?.string
        phone = object["t"]?.string
        isDisabled = object["d"]?.bool ?? false
        usesCustomToken = object["ct"]?.bool ?? false
        customAttributes = object["ca"]?.string
        validSinceSeconds = object["vs"]?.int.map(Int64.init)
        lastLogin = object["ll"]?.int.map(Int64.init)
        lastRefresh = object["lr"]?.int.map(Int64.init)
        profile = object["x"]?.object ?? JSONObject()
        providers = (object["l"]?.array ?? []).compactMap { LinkedProvider(stored: $0) }
        factors = (object["m"]?.array ?? []).compactMap { SecondFactor(stored: $0, seal, "\(tenant)\0\(uid)") }
    }
}

extension LinkedProvider {
    fileprivate var stored: JSONValue {
        var object: JSONObject = ["i": .string(provider), "r": .string(rawID)]
        object["e"] = email.map { .string($0) }
        object["n"] = displayName.map { .string($0) }
        object["p"] = photoURL.map { .string($0) }
        object["s"] = screenName.map { .string($0) }
        object["t"] = phone.map { .string($0) }
        return .object(object)
    }

    fileprivate init?(stored: JSONValue) {
        guard let provider = stored["i"]?.string, let rawID = stored["r"]?.string else { return nil }
        self.init(provider: provider, rawID: rawID)
        email = stored["e"]?.string
        displayName = stored["n"]?.string
        photoURL = stored["p"]?.string
        screenName = stored["s"]?.string
        phone = stored["t"]?.string
    }
}

extension SecondFactor {
    fileprivate func stored(_ seal: FactorSeal, _ user: String) -> JSONValue {
        var object: JSONObject = ["i": .string(id), "a": .int(enrolled)]
        object["n"] = displayName.map { .string($0) }
        object["t"] = phone.map { .string($0) }
        object["s"] = secret.map { .string(seal.sealed($0, "\(user)\0\(id)")) }
        if lastStep != 0 { object["k"] = .int(lastStep) }
        return .object(object)
    }

    fileprivate init?(stored: JSONValue, _ seal: FactorSeal, _ user: String) {
        guard let id = stored["i"]?.string else { return nil }
        let secret = stored["s"]?.string.flatMap { text in
            // Stores of earlier versions, until they are opened by this one.
            FactorSeal.isSealed(text) ? seal.opened(text, "\(user)\0\(id)") : Base64URL.bytes(text)
        }
        self.init(
            id: id, displayName: stored["n"]?.string, enrolled: Int64(stored["a"]?.int ?? 0), phone: stored["t"]?.string,
            secret: secret)
        lastStep = Int64(stored["k"]?.int ?? 0)
    }
}
