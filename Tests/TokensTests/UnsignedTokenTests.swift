import HearthJSON
import Testing

@testable import Tokens

/// Tokens of the authentication emulator, which nobody signs: accepted in development, and nothing else is let in with them.
@Suite struct UnsignedTokenTests {
    private func verifier() throws -> TokenVerifier { try .idTokens(.first, unsigned: true) }

    @Test func acceptsTheEmulatorsToken() async throws {
        let payload = idClaims()
        let token = try await verifier().verify(unsignedToken(payload)).get()
        #expect(token.subject == "alice")
        #expect(token.isUnsigned)
        #expect(token.claims == payload.serialized())
        #expect(token.expires == noon + 3590)
    }

    @Test(arguments: [("exp", 3600), ("exp", .null), ("iat", 0), ("auth_time", JSONValue(noon + 99))] as [(String, JSONValue)])
    func doesNotLookAtTheTimes(name: String, value: JSONValue) async throws {
        #expect(await (try verifier()).refusal(unsignedToken(idClaims([name: value]))) == nil)
    }

    @Test(arguments: [
        ("aud", "other", .audience), ("aud", .null, .audience), ("iss", "https://securetoken.google.com/other", .issuer), ("sub", .null, .subject),
        ("sub", "", .subject), ("exp", "soon", .time),
    ] as [(String, JSONValue, TokenRefusal)])
    func stillBelongsToTheProject(name: String, value: JSONValue, expected: TokenRefusal) async throws {
        #expect(await (try verifier()).refusal(unsignedToken(idClaims([name: value]))) == expected)
    }

    @Test(arguments: ["None", "NONE", "", 1, .null] as [JSONValue]) func otherSpellingsOfNoneAreRefused(algorithm: JSONValue) async throws {
        #expect(await (try verifier()).refusal(unsignedToken(idClaims(), algorithm: algorithm)) == .algorithm)
    }

    @Test func aSignatureDoesNotGoWithNone() async throws {
        #expect(await (try verifier()).refusal(unsignedToken(idClaims()) + "YWJj") == .signature)
        #expect(await (try verifier()).refusal(try SigningKey.first.token(idClaims(), header: ["alg": "none"])) == .signature)
    }

    @Test func signedTokensAreVerifiedAllTheSame() async throws {
        let verifier = try verifier()
        #expect(await verifier.refusal(try SigningKey.first.token(idClaims())) == nil)
        #expect(await verifier.refusal(try SigningKey.second.renamed("first").token(idClaims())) == .signature)
        #expect(await verifier.refusal(try SigningKey.first.token(idClaims(["exp": JSONValue(noon)]))) == .expired)
    }

    @Test(arguments: ["x", "abc", "..", "e30.e30.", "eyJhbGciOiJub25lIn0.WzFd.", "eyJhbGciOiJub25lIn0.e30.", "eyJhbGciOiJub25lIn0.e30"])
    func junkIsRefused(token: String) async throws {
        #expect(await (try verifier()).refusal(token) != nil)
    }

    @Test func isRememberedUntilItExpires() async throws {
        let verifier = try verifier()
        let token = Array(unsignedToken(idClaims()).utf8)
        #expect(verifier.cached(token.span) == nil)
        let verified = try await verifier.verify(token).get()
        #expect(verifier.cached(token.span) == verified)
        #expect(verifier.cached(token.span, now: verified.expires + 3600) == nil)
        #expect(verifier.cached(token.span) == nil)
    }
}
