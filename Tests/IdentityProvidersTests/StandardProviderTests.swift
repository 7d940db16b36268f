import HearthBytes
import HearthJSON
import Testing

@testable import IdentityProviders

/// Google, Apple, OpenID Connect, and the credentials of development.
@Suite struct StandardProviderTests {
    let scene = Scene()

    private func claims(_ issuer: String, _ audience: String, _ changes: [String: JSONValue] = [:]) -> JSONValue {
        changed(
            [
                "iss": .string(issuer), "aud": .string(audience), "sub": "30001", "iat": JSONValue(noon), "exp": JSONValue(noon + 3600),
                "email": "Olga@Example.com", "email_verified": true, "name": "Olga Fake",
            ], changes)
    }

    // MARK: Google

    @Test(arguments: ["https://accounts.google.com", "accounts.google.com"])
    func google(issuer: String) async throws {
        let token = IssuerKey.first.sign(claims(issuer, "google-ios"))
        let assertion = try await scene.sign(in: "google.com", ["id_token": token]).get()
        #expect(assertion.rawID == "30001" && assertion.email == "olga@example.com" && assertion.isEmailVerified)
        #expect(await scene.error(in: "google.com", ["id_token": token]) == nil, "a token without nonce may be presented again")
    }

    @Test func googleForAnotherClient() async {
        let token = IssuerKey.first.sign(claims("https://accounts.google.com", "other"))
        #expect(await scene.error(in: "google.com", ["id_token": token])?.detail == "The ID token audience does not match.")
    }

    @Test func accessTokensOfGoogle() async throws {
        scene.transport.on("https://oauth2.googleapis.com/tokeninfo", ["aud": "google-client", "sub": "30001"])
        scene.transport.on("https://openidconnect.googleapis.com/") { request in
            request.authorization == "Bearer ya29.x"
                ? ProviderAnswer(status: 200, body: Array(#"{"sub":"30001","email":"a@b.c","email_verified":true}"#.utf8)) : nil
        }
        #expect(try await scene.sign(in: "google.com", ["access_token": "ya29.x"]).get().isEmailVerified)
        #expect(await scene.error(in: "google.com", ["access_token": "ya29 x"])?.code == "INVALID_IDP_RESPONSE")
        scene.transport.on("https://oauth2.googleapis.com/tokeninfo", ["aud": "other", "sub": "30001"])
        #expect(await scene.error(in: "google.com", ["access_token": "ya29.x"])?.code == "INVALID_IDP_RESPONSE")
        scene.transport.on("https://oauth2.googleapis.com/tokeninfo", ["aud": "google-client", "sub": "30002"])
        #expect(await scene.error(in: "google.com", ["access_token": "ya29.x"])?.code == "INVALID_IDP_RESPONSE")
        scene.transport.on("https://oauth2.googleapis.com/tokeninfo", ["error": "invalid_token"], status: 400)
        #expect(await scene.error(in: "google.com", ["access_token": "ya29.x"])?.code == "INVALID_IDP_RESPONSE")
    }

    // MARK: Apple

    @Test func apple() async throws {
        let changes: [String: JSONValue] = ["email_verified": "true", "nonce": .string(sha256(rawNonce)), "name": .null]
        let values = claims("https://appleid.apple.com", "com.example.app", changes)
        let token = IssuerKey.first.sign(values, header: ["typ": .null])
        let parameters = ["id_token": token, "nonce": rawNonce, "user": #"{"name":{"firstName":"Ada","lastName":"L"}}"#]
        let assertion = try await scene.sign(in: "apple.com", parameters).get()
        #expect(assertion.isEmailVerified && assertion.displayName == "Ada L")
        #expect(await scene.error(in: "apple.com", parameters) == .duplicate)
        #expect(await scene.error(in: "apple.com", ["access_token": "x"])?.code == "INVALID_IDP_RESPONSE")
    }

    // MARK: OpenID Connect

    @Test(arguments: [IssuerKey.first.id, IssuerKey.curve.id])
    func oidc(key: String) async throws {
        let key = key == IssuerKey.first.id ? IssuerKey.first : .curve
        let token = key.sign(claims(Scene.issuer, "oidc-client", ["role": "admin"]))
        let assertion = try await scene.sign(in: "oidc.test", ["id_token": token]).get()
        #expect(assertion.provider == "oidc.test" && assertion.attributes["role"] == "admin" && assertion.attributes["sub"] == nil)
        _ = await scene.error(in: "oidc.test", ["id_token": token])
        #expect(scene.transport.requests.count == 2, "discovery and keys are kept")
    }

    @Test func aCurveForTheWrongAlgorithm() async {
        let token = IssuerKey.curve.sign(claims(Scene.issuer, "oidc-client"), header: ["alg": "RS256"])
        #expect(await scene.error(in: "oidc.test", ["id_token": token])?.code == "INVALID_IDP_RESPONSE")
    }

    @Test(arguments: [
        ["issuer": "https://other.test"], ["jwks_uri": "http://issuer.test/jwks"], ["jwks_uri": "http://127.0.0.1/jwks"],
        ["jwks_uri": "https://localhost/jwks"], ["jwks_uri": .null], ["jwks_uri": "file:///etc/passwd"],
    ] as [[String: JSONValue]])
    func discoveriesThatDoNotCount(changes: [String: JSONValue]) async {
        scene.transport.on("\(Scene.issuer)/.well-known/", Scene.discovery(changes))
        let token = IssuerKey.first.sign(claims(Scene.issuer, "oidc-client"))
        #expect(await scene.error(in: "oidc.test", ["id_token": token]) == .remote("oidc.test"))
        #expect(scene.transport.requests.count == 1)
        scene.transport.on("\(Scene.issuer)/.well-known/", Scene.discovery())
        scene.clock.advance(6)
        #expect(await scene.error(in: "oidc.test", ["id_token": token]) == nil)
    }

    /// A clock that was ahead for a while keeps no result until that time.
    @Test func aDiscoveryOfAWrongTimeDoesNotCount() async {
        let year = 365 * 86_400
        let token = IssuerKey.first.sign(claims(Scene.issuer, "oidc-client", ["exp": JSONValue(noon + 2 * year)]))
        scene.transport.on("\(Scene.issuer)/.well-known/", Scene.discovery(["jwks_uri": .null]))
        scene.clock.advance(year)
        #expect(await scene.error(in: "oidc.test", ["id_token": token]) == .remote("oidc.test"))
        scene.transport.on("\(Scene.issuer)/.well-known/", Scene.discovery())
        scene.clock.advance(-year)
        #expect(await scene.error(in: "oidc.test", ["id_token": token]) == nil)
    }

    @Test func aTokenOfAnotherIssuerCausesNoRequest() async {
        let token = IssuerKey.first.sign(claims("https://other.test", "oidc-client"))
        #expect(await scene.error(in: "oidc.test", ["id_token": token])?.code == "INVALID_IDP_RESPONSE")
        #expect(scene.transport.requests.isEmpty)
    }

    @Test func severalClients() async {
        let scene = Scene { $0.oidc["oidc.test"]?.otherClientIDs = ["oidc-ios"] }
        for (audience, isAccepted) in [("oidc-client", true), ("oidc-ios", true), ("oidc-android", false)] {
            let token = IssuerKey.first.sign(claims(Scene.issuer, audience))
            #expect((await scene.error(in: "oidc.test", ["id_token": token]) == nil) == isAccepted, "\(audience)")
        }
    }

    @Test func administratorsSeeNoSecrets() {
        let standard = scene.directory.standardConfigurations
        #expect(standard["google.com"] == ["enabled": true, "clientId": "google-client"])
        #expect(standard["apple.com"]?["appleSignInConfig"]?["codeFlowConfig"] == ["teamId": "TEAM1", "keyId": "KEY1"])
        #expect(standard["facebook.com"] == ["enabled": true, "clientId": .string(appID)])
        let oidc = scene.directory.oidcConfigurations
        let shown: JSONObject = [
            "enabled": true, "clientId": "oidc-client", "issuer": .string(Scene.issuer), "responseType": ["code": true],
        ]
        #expect(oidc == ["oidc.test": shown])
        let text = "\(standard)\(oidc)"
        for secret in ["google-secret", appSecret, "oidc:secret", "PRIVATE"] { #expect(!text.contains(secret)) }
    }

    @Test func anOffProvider() async {
        let scene = Scene { $0.oidc["oidc.test"]?.isEnabled = false }
        #expect(await scene.error(in: "oidc.test", ["id_token": "x"])?.code == "OPERATION_NOT_ALLOWED")
    }

    // MARK: Development

    @Test func unsigned() async throws {
        let scene = Scene { $0.acceptsUnsigned = true }
        let assertion = try await scene.sign(["access_token": #"{"sub":"fb2","email":"A@b.c","screen_name":"x"}"#]).get()
        #expect(assertion.rawID == "fb2" && assertion.email == "a@b.c" && assertion.screenName == "x")
        let token = "e30.\(Base64URL.text(Array(#"{"sub":"g1"}"#.utf8)))="
        let google = try await scene.sign(in: "google.com", ["id_token": "\(token)."]).get()
        #expect(google.accessToken == "FirebaseAuthEmulatorFakeAccessToken_google.com")
        #expect(await scene.error(["access_token": "EAAopaque"])?.status == 501)
        let text = "The Auth Emulator does not support facebook.com sign-in with credentials."
        #expect(await scene.error(["access_token": "EAAopaque"])?.message == text)
        for wrong in [#"{"sub":5}"#, #"{"name":"x"}"#, #"{"sub":""}"#] {
            #expect(await scene.error(["id_token": wrong])?.code == "INVALID_IDP_RESPONSE")
        }
        #expect(scene.transport.requests.isEmpty)
    }

    @Test func unsignedIsRefusedOtherwise() async {
        for provider in ["facebook.com", "google.com", "apple.com", "oidc.test"] {
            #expect(await scene.error(in: provider, ["id_token": #"{"sub":"x"}"#])?.code == "INVALID_IDP_RESPONSE")
        }
    }
}
