import HearthJSON

extension TokenRules {
    /// Subject and expiry of a signed token's payload, once every claim is as the rules have it.
    func check(_ payload: JSONValue, now: Int) throws(TokenRefusal) -> (subject: String, expires: Int) {
        let subject = try checkParties(payload)
        guard let expires = try seconds("exp", in: payload) else { throw .time }
        guard try seconds("iat", in: payload) != nil else { throw .time }
        guard expires > now - clockSkewSeconds else { throw .expired }
        for name in ["iat", "nbf", "auth_time"] {
            if let time = try seconds(name, in: payload), time > now + clockSkewSeconds { throw .notYetValid }
        }
        return (subject, expires)
    }

    /// Subject and expiry of a payload that nobody signed.
    func checkUnsigned(_ payload: JSONValue, now: Int) throws(TokenRefusal) -> (subject: String, expires: Int) {
        let subject = try checkParties(payload)
        return (subject, try seconds("exp", in: payload) ?? now + 3600)
    }

    /// Whom the token is for, who made it, and whom it is about, which it returns.
    private func checkParties(_ payload: JSONValue) throws(TokenRefusal) -> String {
        switch audience {
        case .text(let text): guard payload["aud"]?.string == text else { throw .audience }
        case .listHolding(let text):
            guard let list = payload["aud"]?.array, list.contains(where: { $0.string == text }) else { throw .audience }
        }
        guard let claimed = payload["iss"]?.string else { throw .issuer }
        switch issuer {
        case .exactly(let text): guard claimed == text else { throw .issuer }
        case .below(let prefix): guard claimed.hasPrefix(prefix), claimed.utf8.count > prefix.utf8.count else { throw .issuer }
        }
        guard let subject = payload["sub"]?.string, 1...128 ~= subject.utf16.count else { throw .subject }
        return subject
    }

    /// A time in seconds since 1970, nil where it is absent. Anything but a whole number up to the year 9999 is refused, so that
    /// no reader takes another meaning from it.
    private func seconds(_ name: String, in payload: JSONValue) throws(TokenRefusal) -> Int? {
        guard let value = payload[name] else { return nil }
        guard case .int(let seconds) = value, 0...253_402_300_799 ~= seconds else { throw .time }
        return Int(seconds)
    }
}
