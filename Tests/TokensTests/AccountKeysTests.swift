import Crypto
import CryptoExtras
import HearthBytes
import HearthJSON
import Testing

@testable import Tokens

/// Tokens that service accounts write.
@Suite struct AccountKeysTests {
    private static let key = try? _RSA.Signing.PrivateKey(keySize: .bits2048)
    private static let other = try? _RSA.Signing.PrivateKey(keySize: .bits2048)
    private static let email = "sa@demo.iam.gserviceaccount.com"
    private static let now = 1_800_000_000

    private func keys(id: String? = nil) throws -> AccountKeys {
        var keys = AccountKeys()
        try keys.add(email: Self.email, id: id, pem: #require(Self.key).publicKey.pemRepresentation)
        return keys
    }

    private func token(
        header: JSONObject = ["alg": "RS256", "typ": "JWT"], changes: [String: JSONValue?] = [:], key: _RSA.Signing.PrivateKey? = key
    ) throws -> String {
        var claims: JSONObject = [
            "iss": .string(Self.email), "sub": .string(Self.email), "aud": "audience", "iat": .int(Int64(Self.now)),
            "exp": .int(Int64(Self.now + 300)), "uid": "ada",
        ]
        for (name, value) in changes { claims[name] = value }
        let text = [header, claims].map { Base64URL.text(JSONValue.object($0).serialized()) }.joined(separator: ".")
        let signature = try #require(key).signature(for: SHA256.hash(data: Array(text.utf8)), padding: .insecurePKCS1v1_5)
        return "\(text).\(Base64URL.text(Array(signature.rawRepresentation)))"
    }

    private func refusal(_ token: String, _ keys: AccountKeys? = nil) throws -> TokenRefusal? {
        let keys = try keys ?? self.keys()
        do throws(TokenRefusal) {
            _ = try keys.verify(token, audience: "audience", now: Self.now)
            return nil
        } catch {
            return error
        }
    }

    @Test func aTokenOfTheAccountIsAccepted() throws {
        #expect(try keys().verify(token(), audience: "audience", now: Self.now)["uid"]?.string == "ada")
        #expect(try refusal(token(header: ["alg": "RS256", "typ": "JWT", "kid": "a"]), keys(id: "a")) == nil)
    }

    @Test func everythingElseIsRefused() throws {
        #expect(try refusal(token(key: Self.other)) == .signature)
        #expect(try refusal(token(header: ["alg": "none", "typ": "JWT"])) == .unsigned)
        #expect(try refusal(token(header: ["alg": "HS256", "typ": "JWT"])) == .algorithm)
        #expect(try refusal(token(header: ["alg": "RS256", "crit": ["x"]])) == .type)
        #expect(try refusal(token(header: ["alg": "RS256", "kid": "b"]), keys(id: "a")) == .keyUnknown)
        #expect(try refusal(token(changes: ["aud": "another"])) == .audience)
        #expect(try refusal(token(changes: ["iss": "stranger"])) == .issuer)
        #expect(try refusal(token(changes: ["sub": "stranger"])) == .subject)
        #expect(try refusal(token(changes: ["exp": .int(Int64(Self.now))])) == .expired)
        #expect(try refusal(token(changes: ["iat": .int(Int64(Self.now + 1))])) == .notYetValid)
        #expect(try refusal(token(changes: ["exp": .int(Int64(Self.now + 3601))])) == .time)
        #expect(try refusal(token(changes: ["iat": .int(.min)])) == .time)
        #expect(try refusal(token(changes: ["exp": nil])) == .time)
        #expect(try refusal(token() + "x") != nil)
        #expect(try refusal(String(repeating: "x", count: 20_000)) == .tooLong)
    }

    @Test func keysThatAreNoneAreRefused() {
        var keys = AccountKeys()
        #expect(throws: KeyFetchError.self) { try keys.add(email: "a", pem: "") }
        #expect(throws: KeyFetchError.self) { try keys.add(email: "a", pem: "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----") }
        #expect(keys.isEmpty)
    }
}
