import HearthJSON

/// The requirements for the claims of a token.
///
/// The same as in Firebase's verifiers (specification, authentication 1.1 and 1.5; functions 3.1 and 3.2).
public struct TokenRules: Sendable {
    /// The required form of `aud`.
    enum Audience: Sendable {
        /// A string equal to this.
        case text(String)
        /// A list that contains this.
        case listHolding(String)
    }

    /// The required form of `iss`.
    enum Issuer: Sendable {
        case exactly(String)
        /// This prefix, followed by more.
        case below(String)
    }

    let audience: Audience
    let issuer: Issuer
    /// Whether the header must contain `typ: JWT`; otherwise it may be absent.
    let requiresType: Bool
    /// The tolerated difference between the issuer's clock and this one.
    let clockSkewSeconds: Int
    /// Whether `alg: none` is accepted. For development only: every client can write such a token. Its times are not checked, because test
    /// tools write tokens that expired in 1970. A signed token is still verified.
    let acceptsUnsigned: Bool

    /// The greatest clock skew: a larger one would make the times of a token meaningless.
    public static let clockSkewSecondsMax = 600

    /// Rules for the ID tokens of a project.
    ///
    /// - Parameters:
    ///   - issuer: `iss`; nil for `https://securetoken.google.com/` and the project.
    ///   - clockSkewSeconds: clamped to 0 to ``clockSkewSecondsMax``.
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
    ///   - projectNumber: the end of `iss`; nil for any number.
    ///   - issuerPrefix: the beginning of `iss`, including the slash.
    ///   - clockSkewSeconds: clamped to 0 to ``clockSkewSecondsMax``.
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
    /// Checks every claim of a signed token's payload; returns subject and expiry.
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

    /// Checks the payload of an unsigned token; returns subject and expiry.
    func checkUnsigned(_ payload: JSONValue, now: Int) throws(TokenRefusal) -> (subject: String, expires: Int) {
        let subject = try checkParties(payload)
        return (subject, try seconds("exp", in: payload) ?? now + 3600)
    }

    /// Checks audience and issuer; returns the subject.
    private func checkParties(_ payload: JSONValue) throws(TokenRefusal) -> String {
        switch audience {
        case .text(let text): guard payload["aud"]?.string == text else { throw .audience }
        case .listHolding(let text):
            guard let list = payload["aud"]?.array, list.contains(where: { $0.string == text }) else { throw .audience }
        }
        guard isIssuer(of: payload) else { throw .issuer }
        guard let subject = payload["sub"]?.string, 1...128 ~= subject.utf16.count else { throw .subject }
        return subject
    }

    /// Whether `iss` is the required one.
    func isIssuer(of payload: JSONValue) -> Bool {
        guard let claimed = payload["iss"]?.string else { return false }
        return switch issuer {
        case .exactly(let text): claimed == text
        case .below(let prefix): claimed.hasPrefix(prefix) && claimed.utf8.count > prefix.utf8.count
        }
    }

    /// A time in seconds since 1970; nil if absent. Refuses anything but an integer up to the year 9999, so that no reader can interpret it
    /// differently.
    private func seconds(_ name: String, in payload: JSONValue) throws(TokenRefusal) -> Int? {
        guard let value = payload[name] else { return nil }
        guard case .int(let seconds) = value, 0...253_402_300_799 ~= seconds else { throw .time }
        return Int(seconds)
    }
}
