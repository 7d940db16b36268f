import HearthJSON

@testable import Tokens

/// The time of the tests' clock unless a test changes it.
let noon = 1_800_000_000

let project = "demo-hearth"

/// The payload of an ID token that is good at noon. `changes` replaces or adds members, and null removes them.
func idClaims(_ changes: [String: JSONValue] = [:]) -> JSONValue {
    changed(
        [
            "iss": .string("https://securetoken.google.com/\(project)"), "aud": .string(project), "sub": "alice", "user_id": "alice",
            "iat": JSONValue(noon - 10), "auth_time": JSONValue(noon - 10), "exp": JSONValue(noon + 3590),
            "firebase": ["sign_in_provider": "password", "identities": [:]],
        ], changes)
}

/// The payload of an App Check token that is good at noon.
func appClaims(_ changes: [String: JSONValue] = [:]) -> JSONValue {
    changed(
        [
            "iss": "https://firebaseappcheck.googleapis.com/123", "aud": ["projects/123", .string("projects/\(project)")],
            "sub": "1:123:ios:abc", "iat": JSONValue(noon - 10), "exp": JSONValue(noon + 3590),
        ], changes)
}

private func changed(_ claims: JSONValue, _ changes: [String: JSONValue]) -> JSONValue {
    var claims = claims
    for (name, value) in changes { claims[name] = value.isNull ? Optional.none : value }
    return claims
}

extension TokenVerifier {
    /// For ID tokens, trusting `keys`.
    static func idTokens(_ keys: SigningKey..., clock: FakeClock = FakeClock(), skew: Int = 0, unsigned: Bool = false) throws -> TokenVerifier {
        TokenVerifier(
            rules: .idToken(project: project, clockSkewSeconds: skew, acceptsUnsigned: unsigned),
            keys: KeySet(source: .text(try Self.document(keys)), clock: clock.clock), clock: clock.clock)
    }

    /// For App Check tokens, trusting the first key.
    static func appCheck(projectNumber: String? = nil, unsigned: Bool = false) throws -> TokenVerifier {
        let clock = FakeClock()
        return TokenVerifier(
            rules: .appCheck(project: project, projectNumber: projectNumber, acceptsUnsigned: unsigned),
            keys: KeySet(source: .text(try Self.document([.first])), clock: clock.clock), clock: clock.clock)
    }

    private static func document(_ keys: [SigningKey]) throws -> String {
        let document: JSONValue = ["keys": .array(try keys.map { try $0.jwk() })]
        return document.description
    }

    /// The reason why the token is refused; nil if it is accepted.
    func refusal(_ token: String) async -> TokenRefusal? {
        switch await verify(token) {
        case .success: nil
        case .failure(let refusal): refusal
        }
    }
}
