import HearthJSON

/// What a token must say to be accepted, apart from its signature.
///
/// The rules are those of Firebase's own verifiers (specification, authentication 1.1 and 1.5; functions 3.1 and 3.2).
public struct TokenRules: Sendable {
    /// How `aud` is written.
    enum Audience: Sendable {
        /// A text that is exactly this.
        case text(String)
        /// A list that holds this.
        case listHolding(String)
    }

    /// How `iss` is written.
    enum Issuer: Sendable {
        case exactly(String)
        /// This, and something after it.
        case below(String)
    }

    let audience: Audience
    let issuer: Issuer
    /// Whether the header must say `typ: JWT` rather than only say nothing else.
    let requiresType: Bool
    /// How far the issuer's clock may be from ours.
    let clockSkewSeconds: Int
    /// Whether `alg: none` is accepted. For development only: whoever reaches the host can write such a token. Its times are
    /// not looked at then, because test tools write tokens that expired in 1970. A token that has a signature is verified all
    /// the same.
    let acceptsUnsigned: Bool

    /// The largest clock skew: more would make the times of a token meaningless.
    public static let clockSkewSecondsMax = 600

    /// Rules for the ID tokens of a project.
    ///
    /// - Parameters:
    ///   - issuer: `iss`; `https://securetoken.google.com/` and the project where nil.
    ///   - clockSkewSeconds: 0 to ``clockSkewSecondsMax``; what is outside counts as the nearer end.
    public static func idToken(
        project: String, issuer: String? = nil, clockSkewSeconds: Int = 0, acceptsUnsigned: Bool = false
    ) -> TokenRules {
        TokenRules(
            audience: .text(project), issuer: .exactly(issuer ?? "https://securetoken.google.com/\(project)"), requiresType: false,
            clockSkewSeconds: clamped(clockSkewSeconds), acceptsUnsigned: acceptsUnsigned)
    }

    /// Rules for the App Check tokens of a project.
    ///
    /// - Parameters:
    ///   - projectNumber: `iss` must end with it; any number will do where nil.
    ///   - issuerPrefix: what `iss` begins with, the slash included.
    ///   - clockSkewSeconds: 0 to ``clockSkewSecondsMax``; what is outside counts as the nearer end.
    public static func appCheck(
        project: String, projectNumber: String? = nil, issuerPrefix: String = "https://firebaseappcheck.googleapis.com/",
        clockSkewSeconds: Int = 0, acceptsUnsigned: Bool = false
    ) -> TokenRules {
        TokenRules(
            audience: .listHolding("projects/\(project)"),
            issuer: projectNumber.map { .exactly(issuerPrefix + $0) } ?? .below(issuerPrefix), requiresType: true,
            clockSkewSeconds: clamped(clockSkewSeconds), acceptsUnsigned: acceptsUnsigned)
    }

    private static func clamped(_ seconds: Int) -> Int { min(max(0, seconds), clockSkewSecondsMax) }
}

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
