import Crypto
import CryptoExtras
import HearthJSON
import Testing

@testable import Tokens

/// ID tokens in production: who is let in, and all the ways not to be.
@Suite struct IDTokenTests {
    @Test func acceptsAGoodToken() async throws {
        let verifier = try TokenVerifier.idTokens(.first)
        let payload = idClaims()
        let token = try await verifier.verify(SigningKey.first.token(payload)).get()
        #expect(token.subject == "alice")
        #expect(token.expires == noon + 3590)
        #expect(token.claims == payload.serialized())
        #expect(!token.isUnsigned)
    }

    @Test func keepsThePayloadAsItWasWritten() async throws {
        let verifier = try TokenVerifier.idTokens(.first)
        let text = " " + idClaims().description.replacing("alice", with: "\\u0061lice") + "\n"
        let token = try await verifier.verify(SigningKey.first.token(payloadBytes: Array(text.utf8))).get()
        #expect(token.claims == Array(text.utf8))
        #expect(token.subject == "alice")
    }

    @Test(arguments: ["u", String(repeating: "u", count: 128), "ü 😀", "a/b.c", "\u{0}"])
    func acceptsAnyShortSubject(subject: String) async throws {
        let verifier = try TokenVerifier.idTokens(.first)
        #expect(try await verifier.verify(SigningKey.first.token(idClaims(["sub": .string(subject)]))).get().subject == subject)
    }

    @Test(arguments: [
        ("aud", "other", .audience), ("aud", "", .audience), ("aud", .null, .audience), ("aud", [.string(project)], .audience),
        ("aud", 1, .audience), ("aud", "DEMO-HEARTH", .audience),
        ("iss", "https://securetoken.google.com/other", .issuer), ("iss", .string("https://securetoken.google.com/\(project)/"), .issuer),
        ("iss", .string("http://securetoken.google.com/\(project)"), .issuer), ("iss", .null, .issuer),
        ("iss", .string("https://securetoken.google.com.evil.tld/\(project)"), .issuer),
        ("iss", .string("https://session.firebase.google.com/\(project)"), .issuer),
        ("sub", "", .subject), ("sub", .null, .subject), ("sub", 7, .subject), ("sub", .string(String(repeating: "u", count: 129)), .subject),
        ("exp", .null, .time), ("exp", "1900000000", .time), ("exp", 1_900_000_000.5, .time), ("exp", -1, .time),
        ("exp", JSONValue(Int64.max), .time), ("exp", JSONValue(UInt64.max), .time), ("exp", .double(1e300), .time), ("exp", true, .time),
        ("exp", JSONValue(noon), .expired), ("exp", JSONValue(noon - 1), .expired), ("exp", 0, .expired),
        ("iat", .null, .time), ("iat", "1", .time), ("iat", JSONValue(noon + 1), .notYetValid), ("iat", JSONValue(Int64.min), .time),
        ("auth_time", JSONValue(noon + 1), .notYetValid), ("auth_time", "1", .time), ("nbf", JSONValue(noon + 1), .notYetValid),
    ] as [(String, JSONValue, TokenRefusal)])
    func refusesAClaim(name: String, value: JSONValue, expected: TokenRefusal) async throws {
        let verifier = try TokenVerifier.idTokens(.first)
        #expect(await verifier.refusal(try SigningKey.first.token(idClaims([name: value]))) == expected)
    }

    @Test(arguments: [
        ("exp", JSONValue(noon + 1)), ("iat", JSONValue(noon)), ("auth_time", JSONValue(noon)), ("auth_time", .null), ("nbf", JSONValue(noon)),
    ] as [(String, JSONValue)])
    func acceptsTheEdge(name: String, value: JSONValue) async throws {
        let verifier = try TokenVerifier.idTokens(.first)
        #expect(await verifier.refusal(try SigningKey.first.token(idClaims([name: value]))) == nil)
    }

    @Test func allowsForTheIssuersClock() async throws {
        let verifier = try TokenVerifier.idTokens(.first, skew: 5)
        let key = SigningKey.first
        #expect(await verifier.refusal(try key.token(idClaims(["exp": JSONValue(noon - 4)]))) == nil)
        #expect(await verifier.refusal(try key.token(idClaims(["exp": JSONValue(noon - 5)]))) == .expired)
        #expect(await verifier.refusal(try key.token(idClaims(["iat": JSONValue(noon + 5)]))) == nil)
        #expect(await verifier.refusal(try key.token(idClaims(["iat": JSONValue(noon + 6)]))) == .notYetValid)
    }

    @Test(arguments: [
        ("alg", "none", .unsigned), ("alg", "None", .algorithm), ("alg", "nOnE", .algorithm), ("alg", "HS256", .algorithm),
        ("alg", "RS512", .algorithm), ("alg", "PS256", .algorithm), ("alg", "rs256", .algorithm), ("alg", "", .algorithm),
        ("alg", .null, .algorithm), ("alg", 1, .algorithm), ("alg", ["RS256"], .algorithm),
        ("kid", .null, .keyIDMissing), ("kid", "", .keyIDMissing), ("kid", 1, .keyIDMissing),
        ("kid", "../../etc/passwd", .keyUnknown), ("kid", "' OR 1=1 --", .keyUnknown), ("kid", "https://evil.tld/jwks", .keyUnknown),
        ("kid", .string(String(repeating: "k", count: 10_000)), .keyUnknown), ("kid", "FIRST", .keyUnknown),
        ("typ", "JOSE", .type), ("typ", 1, .type), ("crit", ["exp"], .type), ("crit", [], .type),
    ] as [(String, JSONValue, TokenRefusal)])
    func refusesAHeader(name: String, value: JSONValue, expected: TokenRefusal) async throws {
        let verifier = try TokenVerifier.idTokens(.first)
        #expect(await verifier.refusal(try SigningKey.first.token(idClaims(), header: [name: value])) == expected)
    }

    @Test(arguments: [
        ("typ", .null), ("typ", "jwt"), ("jku", "https://evil.tld/jwks"), ("x5u", "https://evil.tld/x5u"), ("cty", "JWT"),
    ] as [(String, JSONValue)])
    func takesNothingElseFromTheHeader(name: String, value: JSONValue) async throws {
        let verifier = try TokenVerifier.idTokens(.first)
        #expect(await verifier.refusal(try SigningKey.first.token(idClaims(), header: [name: value])) == nil)
    }

    @Test func aKeyInTheHeaderIsNotBelieved() async throws {
        let verifier = try TokenVerifier.idTokens(.first)
        let token = try SigningKey.second.renamed("first").token(idClaims(), header: ["jwk": SigningKey.second.jwk()])
        #expect(await verifier.refusal(token) == .signature)
    }

    @Test func anotherKeyUnderTheSameIDIsRefused() async throws {
        let verifier = try TokenVerifier.idTokens(.first, .second)
        #expect(await verifier.refusal(try SigningKey.second.renamed("first").token(idClaims())) == .signature)
        #expect(await verifier.refusal(try SigningKey.second.token(idClaims())) == nil)
    }

    @Test(arguments: ["RS256", "HS256"]) func thePublicKeyIsNoSecret(algorithm: String) async throws {
        let verifier = try TokenVerifier.idTokens(.first)
        let secrets = [Array(SigningKey.first.key.publicKey.pemRepresentation.utf8), Array(SigningKey.first.key.publicKey.derRepresentation)]
        let header: JSONValue = ["alg": .string(algorithm), "kid": "first", "typ": "JWT"]
        let signed = base64URL(header.serialized()) + "." + base64URL(idClaims().serialized())
        for secret in secrets {
            let code = HMAC<SHA256>.authenticationCode(for: Array(signed.utf8), using: SymmetricKey(data: secret))
            let refusal = await verifier.refusal(signed + "." + base64URL(Array(code)))
            #expect(refusal == (algorithm == "RS256" ? .signature : .algorithm))
        }
    }

    @Test func unsignedTokensAreRefused() async throws {
        let verifier = try TokenVerifier.idTokens(.first)
        #expect(await verifier.refusal(unsignedToken(idClaims())) == .unsigned)
        let signed = try SigningKey.first.token(idClaims())
        let unsigned = String(signed[...(signed.lastIndex(of: ".") ?? signed.startIndex)])
        #expect(await verifier.refusal(unsigned) == .signature)
    }

    @Test func noByteCanBeChanged() async throws {
        let verifier = try TokenVerifier.idTokens(.first)
        let token = Array(try SigningKey.first.token(idClaims()).utf8)
        for position in stride(from: 0, to: token.count, by: 3) {
            var altered = token
            altered[position] = altered[position] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            #expect(await verifier.refusal(String(decoding: altered, as: UTF8.self)) != nil, "position \(position)")
        }
        for length in [0, 1, token.count / 2, token.count - 1] {
            #expect(await verifier.refusal(String(decoding: token[..<length], as: UTF8.self)) != nil)
        }
    }

    @Test func aTokenHasOneSpelling() async throws {
        let verifier = try TokenVerifier.idTokens(.first)
        var token = Array(try SigningKey.first.token(idClaims()).utf8)
        // 256 bytes leave four bits unused in the last letter; "B" and "A" would mean the same to a careless reader.
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        let value = try #require(letters.firstIndex(of: token[token.count - 1]))
        token[token.count - 1] = letters[value | 1]
        #expect(await verifier.refusal(String(decoding: token, as: UTF8.self)) == .malformed)
        #expect(await verifier.refusal(try SigningKey.first.token(idClaims()) + "=") == .malformed)
    }

    @Test(arguments: [
        "", "x", "abc", ".", "..", "...", "a.b.c", "YWJj.YWJj.YWJj", "e30.e30.", "e30.e30.e30.e30", "e30=.e30=.", "e30 .e30.", "é.é.é",
    ]) func refusesWhatIsNoToken(text: String) async throws {
        let verifier = try TokenVerifier.idTokens(.first)
        let refusal = await verifier.refusal(text)
        #expect(refusal == .malformed || refusal == .algorithm)
    }

    @Test(arguments: ["[1]", "\"text\"", "null", "1", "", "{", "{\"a\":1}x", "{\"aud\":\"\u{1}\"}"])
    func refusesAPayloadThatIsNoObject(payload: String) async throws {
        let verifier = try TokenVerifier.idTokens(.first)
        #expect(await verifier.refusal(try SigningKey.first.token(payloadBytes: Array(payload.utf8))) == .malformed)
        #expect(await verifier.refusal(try SigningKey.first.token(payloadBytes: [0xFF, 0xFE])) == .malformed)
    }

    @Test func refusesADeepPayload() async throws {
        let verifier = try TokenVerifier.idTokens(.first)
        func nested(_ depth: Int) -> JSONValue { (0..<depth).reduce(.null) { value, _ in .array([value]) } }
        #expect(await verifier.refusal(try SigningKey.first.token(idClaims(["deep": nested(60)]))) == nil)
        #expect(await verifier.refusal(try SigningKey.first.token(idClaims(["deep": nested(64)]))) == .malformed)
    }

    @Test func refusesALongToken() async throws {
        let verifier = try TokenVerifier.idTokens(.first)
        func padded(_ length: Int) throws -> String {
            try SigningKey.first.token(idClaims(["padding": .string(String(repeating: "p", count: length))]))
        }
        #expect(await verifier.refusal(try padded(11_000)) == nil)
        #expect(await verifier.refusal(try padded(13_000)) == .tooLong)
        #expect(await verifier.refusal(String(repeating: "x", count: 1 << 20)) == .tooLong)
    }

    @Test func theIssuerCanBeAnother() async throws {
        let clock = FakeClock()
        let verifier = TokenVerifier(
            rules: .idToken(project: project, issuer: "https://id.example.org"),
            keys: KeySet(source: .text(try keySet(.first)), clock: clock.clock), clock: clock.clock)
        #expect(await verifier.refusal(try SigningKey.first.token(idClaims(["iss": "https://id.example.org"]))) == nil)
        #expect(await verifier.refusal(try SigningKey.first.token(idClaims())) == .issuer)
    }

    @Test(arguments: TokenRefusal.allCases) func aRefusalIsOneSentence(refusal: TokenRefusal) {
        #expect(refusal.description.hasSuffix("."))
    }
}
