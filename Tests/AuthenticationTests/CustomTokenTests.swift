import Accounts
import HearthBytes
import HearthJSON
import Testing

@testable import Authentication

struct CustomTokenTests {
    private let accounts = [
        TrustedServiceAccount(email: "sa@example.com") { signature, signed, _ in signature == Array(signed.suffix(4)) }
    ]

    private func token(_ claims: JSONObject, algorithm: String = "RS256", isGenuine: Bool = true) -> String {
        var payload: JSONObject = [
            "iss": "sa@example.com", "sub": "sa@example.com", "aud": .string(CustomToken.audience), "uid": "u", "iat": 1000, "exp": 4600,
        ]
        for (name, value) in claims { payload[name] = value.isNull ? nil : value }
        let header: JSONValue = ["alg": .string(algorithm), "typ": "JWT"]
        let text = "\(Base64URL.text(header.serialized())).\(Base64URL.text(JSONValue.object(payload).serialized()))"
        return "\(text).\(Base64URL.text(isGenuine ? Array(text.utf8.suffix(4)) : [1, 2, 3, 4]))"
    }

    private func code(_ token: String, now: Int = 1000) -> String? {
        do throws(AuthError) {
            _ = try CustomToken(signed: token, accounts: accounts, nowSeconds: now)
            return nil
        } catch {
            return error.message
        }
    }

    @Test func aSignedTokenIsAccepted() throws {
        #expect(code(token([:])) == nil)
        #expect(code(token([:]), now: 4599) == nil)
    }

    @Test func anyOtherTokenIsRefused() {
        for bad in [
            token([:], algorithm: "none"), token([:], algorithm: "HS256"), token([:], isGenuine: false), token(["aud": "x"]), token(["sub": "x"]),
            token(["exp": 4601]), token(["iat": 2000, "exp": 3000]), token(["iat": "1000"]), token(["exp": 1.5]), "a.b", "", "a.b.c.d",
        ] {
            #expect(code(bad)?.hasPrefix("INVALID_CUSTOM_TOKEN") == true, "\(bad)")
        }
        #expect(code(token([:]), now: 4600)?.hasPrefix("INVALID_CUSTOM_TOKEN") == true)
        #expect(code(token(["iss": "other@example.com", "sub": "other@example.com"])) == "CREDENTIAL_MISMATCH")
        #expect(code(token(["uid": nil])) == "MISSING_IDENTIFIER")
        #expect(code(token(["claims": ["sub": "x"]])) == "FORBIDDEN_CLAIM : sub")
        #expect(code(token(["claims": [1]])) == "INVALID_CLAIMS")
        #expect(code(token(["exp": .int(.max), "iat": .int(.max)]))?.hasPrefix("INVALID_CUSTOM_TOKEN") == true)
    }
}
