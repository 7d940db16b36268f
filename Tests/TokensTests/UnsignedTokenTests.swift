import HearthJSON
import Testing

@testable import Tokens

/// Unsigned tokens of the authentication emulator: accepted in development, and only there.
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

    /// Some tools write the padding that RFC 7515 leaves out; of a signed token there is one spelling only.
    @Test(arguments: ["a", "al", "ali"]) func paddingIsTakenOfUnsignedTokensOnly(uid: String) async throws {
        let verifier = try verifier()
        let claims = idClaims(["sub": .string(uid)])
        let plain = unsignedToken(claims).split(separator: ".").map(String.init)
        let padded = plain.map(Self.padded)
        #expect(try await verifier.verify("\(padded[0]).\(padded[1]).").get().subject == uid)
        for wrong in ["\(padded[1])=", "\(plain[1])====", "=\(plain[1])", "="] {
            #expect(await verifier.refusal("\(padded[0]).\(wrong).") == .malformed)
        }
        let signed = try SigningKey.first.token(claims).split(separator: ".").map(String.init)
        #expect(await verifier.refusal("\(signed[0])\(signed[0].utf8.count % 4 == 0 ? "====" : "=").\(signed[1]).\(signed[2])") == .malformed)
        let isSpelledOtherwise = Self.padded(signed[1]) != signed[1]
        let refusal = await verifier.refusal("\(signed[0]).\(Self.padded(signed[1])).\(signed[2])")
        #expect(refusal == (isSpelledOtherwise ? .malformed : nil))
    }

    private static func padded(_ text: String) -> String { text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4) }

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
