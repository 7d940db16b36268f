import HearthJSON
import Testing

@testable import Tokens

/// App Check tokens: what is different from ID tokens.
@Suite struct AppCheckTokenTests {
    @Test func acceptsAGoodToken() async throws {
        let token = try await TokenVerifier.appCheck().verify(SigningKey.first.token(appClaims())).get()
        #expect(token.subject == "1:123:ios:abc")
    }

    @Test(arguments: [
        ("aud", .string("projects/\(project)"), .audience), ("aud", ["projects/123", "projects/other"], .audience), ("aud", [], .audience),
        ("aud", [.string(project)], .audience), ("aud", .null, .audience), ("aud", [["projects/demo-hearth"]], .audience),
        ("iss", "https://example.com/123", .issuer), ("iss", "https://firebaseappcheck.googleapis.com", .issuer),
        ("iss", "https://firebaseappcheck.googleapis.com/", .issuer), ("iss", "https://firebaseappcheck.googleapis.com.evil.tld/123", .issuer),
        ("sub", .null, .subject), ("sub", "", .subject), ("exp", JSONValue(noon), .expired), ("iat", JSONValue(noon + 1), .notYetValid),
    ] as [(String, JSONValue, TokenRefusal)])
    func refusesAClaim(name: String, value: JSONValue, expected: TokenRefusal) async throws {
        #expect(await (try TokenVerifier.appCheck()).refusal(try SigningKey.first.token(appClaims([name: value]))) == expected)
    }

    @Test func theTypeIsRequired() async throws {
        let verifier = try TokenVerifier.appCheck()
        #expect(await verifier.refusal(try SigningKey.first.token(appClaims(), header: ["typ": .null])) == .type)
        #expect(await verifier.refusal(try SigningKey.first.token(appClaims(), header: ["typ": "at+jwt"])) == .type)
    }

    @Test func theProjectNumberIsHeldWhereItIsKnown() async throws {
        let verifier = try TokenVerifier.appCheck(projectNumber: "123")
        #expect(await verifier.refusal(try SigningKey.first.token(appClaims())) == nil)
        let other = appClaims(["iss": "https://firebaseappcheck.googleapis.com/1234"])
        #expect(await verifier.refusal(try SigningKey.first.token(other)) == .issuer)
    }

    @Test func theTwoSortsOfTokenAreNotMistakenForEachOther() async throws {
        #expect(await (try TokenVerifier.appCheck()).refusal(try SigningKey.first.token(idClaims())) == .audience)
        #expect(await (try TokenVerifier.idTokens(.first)).refusal(try SigningKey.first.token(appClaims())) == .audience)
    }

    @Test func thePlaceholderOfClientsWithoutAppCheckIsRefused() async throws {
        #expect(await (try TokenVerifier.appCheck()).refusal("eyJlcnJvciI6IlVOS05PV05fRVJST1IifQ==") == .malformed)
    }

    @Test func unsignedTokensAreForDevelopment() async throws {
        #expect(await (try TokenVerifier.appCheck()).refusal(unsignedToken(appClaims())) == .unsigned)
        #expect(await (try TokenVerifier.appCheck(unsigned: true)).refusal(unsignedToken(appClaims())) == nil)
    }
}
