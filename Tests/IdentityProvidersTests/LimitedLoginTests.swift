import HearthBytes
import HearthJSON
import Testing

@testable import IdentityProviders

/// Facebook's Limited Login, check by check (spec auth 3.3).
@Suite struct LimitedLoginTests {
    let scene = Scene()

    private func login(_ changes: [String: JSONValue] = [:], header: [String: JSONValue] = [:], key: IssuerKey = .first) -> [String: String] {
        ["id_token": key.sign(limitedClaims(changes), header: header), "nonce": rawNonce]
    }

    @Test func aGoodToken() async throws {
        let assertion = try await scene.sign(in: "facebook.com", login(["cnf": ["jkt": "abc"], "user_friends": ["1"]])).get()
        #expect(assertion.rawID == "20001" && assertion.email == "lim@example.com" && !assertion.isEmailVerified)
        #expect(assertion.displayName == "Lima Fake" && assertion.photoURL == "https://fake.test/lima.jpg")
        #expect(assertion.answer["oauthIdToken"] != nil && assertion.answer["firstName"] == "Lima")
        for name in ["nonce", "jti", "cnf"] { #expect(assertion.profile[name] == nil) }
        #expect(assertion.profile["user_friends"] != nil)
    }

    @Test func trustedMails() async throws {
        let scene = Scene { $0.facebook?.trustsEmail = true }
        #expect(try await scene.sign(login()).get().isEmailVerified)
    }

    @Test(arguments: [
        ["aud": "999"], ["aud": [.string(appID), "999"]], ["aud": []], ["aud": .null], ["iss": "https://www.facebook.com.evil.test"],
        ["iss": "https://www.facebook.com/"], ["iss": "http://www.facebook.com"], ["iss": .null], ["exp": JSONValue(noon - 61)],
        ["exp": .null], ["exp": "1900000000"], ["exp": 1e300], ["iat": JSONValue(noon + 61)], ["iat": JSONValue(noon - 3661)], ["iat": .null],
        ["nbf": JSONValue(noon + 61)], ["nbf": "x"], ["sub": ""], ["sub": 5], ["sub": .null], ["sub": .string(String(repeating: "x", count: 256))],
    ] as [[String: JSONValue]])
    func claims(changes: [String: JSONValue]) async {
        #expect(await scene.error(login(changes))?.code == "INVALID_IDP_RESPONSE")
        #expect(scene.ledger.count == 0)
        #expect(scene.transport.requests.isEmpty, "a token for somebody else fetches no keys")
    }

    @Test func claimsThatAreAllowed() async {
        #expect(await scene.error(login(["aud": [.string(appID)], "jti": "a"])) == nil)
        #expect(await scene.error(login(["exp": JSONValue(noon - 59), "jti": "b"])) == nil)
        #expect(await scene.error(login(["iat": JSONValue(noon + 59), "jti": "c"])) == nil)
    }

    @Test(arguments: [
        ["alg": "none"], ["alg": "HS256"], ["alg": "ES256"], ["alg": "rs256"], ["typ": "at+jwt"], ["typ": .null], ["kid": .null], ["kid": ""],
        ["crit": ["exp"]], ["kid": "../../etc/passwd"], ["kid": "nope", "jku": "http://127.0.0.1:1/jwks"],
    ] as [[String: JSONValue]])
    func headers(header: [String: JSONValue]) async {
        #expect(await scene.error(login(header: header))?.code == "INVALID_IDP_RESPONSE")
        #expect(scene.transport.requests.allSatisfy { $0.url == Scene.keyURL })
    }

    @Test func signatures() async {
        var token = login()["id_token"]!
        let forged = IssuerKey(id: "fb-key-1", key: IssuerKey.second.key).sign(limitedClaims())
        #expect(await scene.error(["id_token": forged, "nonce": rawNonce])?.detail == "The ID token's signature is wrong.")
        token.replaceSubrange(token.index(token.startIndex, offsetBy: 120)..., with: token.dropFirst(121))
        #expect(await scene.error(["id_token": token, "nonce": rawNonce])?.code == "INVALID_IDP_RESPONSE")
        for text in ["x", "a.b.c", "..", String(repeating: "a", count: 20_000)] {
            #expect(await scene.error(["id_token": text, "nonce": rawNonce])?.code == "INVALID_IDP_RESPONSE")
        }
        #expect(scene.ledger.count == 0)
    }

    @Test func nonces() async {
        let code = "MISSING_OR_INVALID_NONCE"
        let token = IssuerKey.first.sign(limitedClaims())
        #expect(await scene.error(["id_token": token])?.message == "\(code) : Nonce is missing in the request.")
        #expect(await scene.error(["id_token": token, "nonce": ""])?.code == code)
        for wrong in ["other", sha256(rawNonce), rawNonce.lowercased()] {
            let error = await scene.error(["id_token": token, "nonce": wrong])
            #expect(error?.code == code && error?.detail?.contains(wrong) == false)
        }
        for claimed in [.string(rawNonce), .string(sha256(rawNonce).uppercased()), 5, "", .null] as [JSONValue] {
            #expect(await scene.error(login(["nonce": claimed]))?.code == code)
        }
        // None of these has used the token up.
        #expect(await scene.error(["id_token": token, "nonce": rawNonce]) == nil)
        #expect(await scene.error(["id_token": token, "nonce": rawNonce]) == .duplicate)
    }

    @Test func replay() async {
        #expect(await scene.error(login(["jti": .null])) == nil)
        #expect(await scene.error(login(["jti": .null])) == .duplicate)
        #expect(await scene.error(login(["jti": "same"])) == nil)
        #expect(await scene.error(login(["jti": "same", "name": "Other"])) == .duplicate)
        scene.ledger.fail()
        #expect(await scene.error(login(["jti": "new"]))?.status == 503)
    }

    @Test func onlyOneOfManyWins() async {
        let parameters = login()
        let winners = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<20 { group.addTask { await scene.error(parameters) == nil } }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(winners == 1)
        #expect(scene.transport.count(Scene.keyURL) == 1, "requests for keys are shared")
    }

    @Test func rotationOfKeys() async {
        #expect(await scene.error(login()) == nil)
        scene.transport.on(Scene.keyURL, document(.second), maxAge: 3600)
        #expect(await scene.error(login(["jti": "2"], key: .second)) == nil)
        #expect(scene.transport.count(Scene.keyURL) == 2)
        for _ in 0..<5 { #expect(await scene.error(login(["jti": "3"]))?.code == "INVALID_IDP_RESPONSE") }
        #expect(scene.transport.count(Scene.keyURL) == 2, "an unknown key causes one request a minute")
        scene.clock.advance(61)
        #expect(await scene.error(login(["jti": "4", "iat": JSONValue(noon + 61)]))?.code == "INVALID_IDP_RESPONSE")
        #expect(scene.transport.count(Scene.keyURL) == 3)
    }

    @Test func keysAreKeptForSixHoursAtMost() async {
        scene.transport.on(Scene.keyURL, document(.first), maxAge: 1_000_000)
        #expect(await scene.error(login()) == nil)
        scene.clock.advance(6 * 3600 + 1)
        let now = JSONValue(scene.clock.now)
        #expect(await scene.error(login(["jti": "2", "iat": now, "exp": JSONValue(scene.clock.now + 60)])) == nil)
        #expect(scene.transport.count(Scene.keyURL) == 2)
    }

    @Test func theSecondAddressOfKeys() async {
        scene.transport.on(Scene.keyURL, "no", status: 500)
        #expect(await scene.error(login()) == AssertionError.remote("facebook.com"))
        scene.clock.advance(6)
        scene.transport.on("https://www.facebook.com/.well-known/oauth/openid/jwks/", document(.first))
        #expect(await scene.error(login()) == nil)
    }

    @Test func bothTokens() async throws {
        var parameters = login()
        parameters["access_token"] = "EAAclassic"
        let assertion = try await scene.sign(in: "facebook.com", parameters).get()
        #expect(assertion.accessToken == "EAAclassic" && assertion.idToken != nil)
        #expect(scene.transport.count("https://graph") == 0)
    }
}
