import Accounts
import Crypto
import CryptoExtras
import HearthBytes
import HearthJSON
import Testing
import Tokens

@testable import Authentication

struct CustomTokenTests {
    private static let key = try? _RSA.Signing.PrivateKey(keySize: .bits2048)
    private static let other = try? _RSA.Signing.PrivateKey(keySize: .bits2048)

    private let accounts: AccountKeys

    init() throws {
        var accounts = AccountKeys()
        try accounts.add(email: "sa@example.com", pem: try #require(Self.key).publicKey.pemRepresentation)
        self.accounts = accounts
    }

    private func token(_ claims: JSONObject, algorithm: String = "RS256", isGenuine: Bool = true) throws -> String {
        var payload: JSONObject = [
            "iss": "sa@example.com", "sub": "sa@example.com", "aud": .string(HostTokenAccount.audience), "uid": "u", "iat": 1000, "exp": 4600,
        ]
        for (name, value) in claims { payload[name] = value.isNull ? nil : value }
        let header: JSONValue = ["alg": .string(algorithm), "typ": "JWT"]
        let text = "\(Base64URL.text(header.serialized())).\(Base64URL.text(JSONValue.object(payload).serialized()))"
        let key = try #require(isGenuine ? Self.key : Self.other)
        let signature = try key.signature(for: SHA256.hash(data: Array(text.utf8)), padding: .insecurePKCS1v1_5)
        return "\(text).\(Base64URL.text(Array(signature.rawRepresentation)))"
    }

    private func refusal(_ token: String, now: Int = 1000) -> String? {
        do throws(AuthError) {
            _ = try CustomToken(signed: token, accounts: accounts, nowSeconds: now)
            return nil
        } catch {
            return error.message
        }
    }

    @Test func aSignedTokenIsAccepted() throws {
        #expect(refusal(try token([:])) == nil)
        #expect(refusal(try token([:]), now: 4599) == nil)
    }

    @Test func anyOtherTokenIsRefused() throws {
        for bad in [
            try token([:], algorithm: "none"), try token([:], algorithm: "HS256"), try token([:], isGenuine: false), try token(["aud": "x"]),
            try token(["sub": "x"]), try token(["exp": 4601]), try token(["iat": 2000, "exp": 3000]), try token(["iat": "1000"]),
            try token(["exp": 1.5]), "a.b", "", "a.b.c.d", try token(["exp": .int(.max), "iat": .int(.max)]),
        ] {
            #expect(refusal(bad)?.hasPrefix("INVALID_CUSTOM_TOKEN") == true, "\(bad)")
        }
        #expect(refusal(try token([:]), now: 4700)?.hasPrefix("INVALID_CUSTOM_TOKEN") == true)
        #expect(refusal(try token(["iss": "other@example.com", "sub": "other@example.com"])) == "CREDENTIAL_MISMATCH")
        #expect(refusal(try token(["uid": nil])) == "MISSING_IDENTIFIER")
        #expect(refusal(try token(["claims": ["sub": "x"]])) == "FORBIDDEN_CLAIM : sub")
        #expect(refusal(try token(["claims": [1]])) == "INVALID_CLAIMS")
    }

    @Test func unsignedTokensOfDevelopmentAreRead() throws {
        #expect(try CustomToken(unsigned: #"{"uid":"u","claims":{"role":"x"}}"#).claims == ["role": "x"])
        #expect(throws: AuthError.self) { try CustomToken(unsigned: "garbage") }
        #expect(throws: AuthError.self) { try CustomToken(unsigned: "{}") }
    }
}
