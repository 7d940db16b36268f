import HearthJSON
import Testing

@testable import Tokens

/// The host's own tokens beside those of another issuer: each has its own issuer and keys, and neither counts with those of the other.
@Suite struct OwnTokensTests {
    private static let other = "https://id.example.org/x"
    private let clock = FakeClock()

    private func keys(_ key: SigningKey) throws -> KeySet {
        let document: JSONValue = ["keys": [try key.jwk()]]
        return KeySet(source: .text(document.description), clock: clock.clock)
    }

    /// The first key is the host's own; the second is that of another issuer.
    private func verifier(issuer: String? = nil, hasOthers: Bool = true, unsigned: Bool = false) throws -> TokenVerifier {
        TokenVerifier(
            rules: .idToken(project: project, issuer: issuer, acceptsUnsigned: unsigned), keys: hasOthers ? try keys(.second) : nil,
            own: OwnTokens(rules: .idToken(project: project, acceptsUnsigned: unsigned), keys: try keys(.first)), clock: clock.clock)
    }

    @Test func withoutOtherKeysOnlyOwnTokensCount() async throws {
        let verifier = try verifier(hasOthers: false)
        #expect(await verifier.refusal(try SigningKey.first.token(idClaims())) == nil)
        let foreign = try SigningKey.second.token(idClaims())
        #expect(await verifier.refusal(foreign) == .keyUnknown)
        #expect(verifier.reason(for: .keyUnknown, of: Array(foreign.utf8)).contains("accepts only its own tokens"))
        #expect(await verifier.refusal(try SigningKey.second.renamed("first").token(idClaims())) == .signature)
    }

    @Test func ownTokensKeepTheirIssuer() async throws {
        let verifier = try verifier(issuer: Self.other)
        let own = try SigningKey.first.token(idClaims())
        #expect(await verifier.refusal(own) == nil)
        #expect(verifier.cached(Array(own.utf8).span) != nil)
        #expect(await verifier.refusal(try SigningKey.second.token(idClaims(["iss": .string(Self.other)]))) == nil)
    }

    @Test func noKeySignsForTheIssuerOfTheOther() async throws {
        let verifier = try verifier(issuer: Self.other)
        let foreign = try SigningKey.second.token(idClaims())
        #expect(await verifier.refusal(foreign) == .issuer)
        #expect(await verifier.refusal(try SigningKey.first.token(idClaims(["iss": .string(Self.other)]))) == .keyUnknown)
        let reason = verifier.reason(for: .issuer, of: Array(foreign.utf8))
        #expect(reason.contains(Self.other) && reason.contains("for its own tokens"))
    }

    @Test func unsignedTokensMayHaveEither() async throws {
        let verifier = try verifier(issuer: Self.other, unsigned: true)
        #expect(await verifier.refusal(unsignedToken(idClaims())) == nil)
        #expect(await verifier.refusal(unsignedToken(idClaims(["iss": .string(Self.other)]))) == nil)
        #expect(await verifier.refusal(unsignedToken(idClaims(["iss": "https://evil.example.org"]))) == .issuer)
    }

    @Test func anExpiredOwnTokenIsSaidToBeExpired() async throws {
        let verifier = try verifier(issuer: Self.other)
        #expect(await verifier.refusal(try SigningKey.first.token(idClaims(["exp": JSONValue(noon - 5)]))) == .expired)
    }
}
