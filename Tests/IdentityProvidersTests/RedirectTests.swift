import Crypto
import HearthBytes
import HearthJSON
import HTTP
import Testing

@testable import IdentityProviders

/// The flow of browsers: the provider's page, the return, and attacks on it.
@Suite struct RedirectTests {
    let scene = Scene()
    private static let handler = "https://app.test/__/auth/handler"

    private func begin(_ provider: String = "oidc.test", id: String = "id-1") async throws -> (query: ProviderParameters, state: String) {
        let redirect = try await scene.directory.redirect(
            provider, redirectURI: Self.handler, sessionID: "session", id: id, tenant: "t1", scopes: "extra",
            parameters: ["prompt": "login", "Redirect_URI": "https://evil.test", "client_id": "evil"]
        ).get()
        return (try ProviderParameters(requestURI: redirect.url, postBody: nil), redirect.state)
    }

    /// Lets the issuer answer a code with a token that has this nonce.
    private func answer(nonce: String?) {
        let claims = changed(
            ["iss": .string(Scene.issuer), "aud": "oidc-client", "sub": "30001", "iat": JSONValue(noon), "exp": JSONValue(noon + 60)],
            ["nonce": nonce.map { .string($0) } ?? .null])
        let token = IssuerKey.first.sign(claims)
        scene.transport.on("\(Scene.issuer)/token", ["id_token": .string(token), "access_token": "at"])
    }

    @Test func there() async throws {
        let (query, state) = try await begin()
        #expect(query["client_id"] == "oidc-client" && query["response_type"] == "code" && query["redirect_uri"] == Self.handler)
        #expect(query["scope"] == "openid email profile extra" && query["prompt"] == "login" && query["state"] == state)
        #expect(query["Redirect_URI"] == nil && query["code_challenge_method"] == "S256")
        let (facebook, _) = try await begin("facebook.com")
        #expect(facebook["scope"] == "public_profile,email,extra" && facebook["client_id"] == appID)
        let (apple, _) = try await begin("apple.com")
        #expect(apple["response_mode"] == "form_post" && apple["code_challenge"] == nil)
        #expect(try await begin("google.com").query["client_id"] == "google-client")
        #expect(await scene.directory.redirect("github.com", redirectURI: Self.handler, sessionID: "s", id: "i") == .failure(.notAllowed))
        let wrong = await scene.directory.redirect("oidc.test", redirectURI: "/path", sessionID: "s", id: "i")
        #expect(wrong == .failure(AssertionError("INVALID_CONTINUE_URI")))
    }

    @Test func andBack() async throws {
        let (query, state) = try await begin()
        answer(nonce: query["nonce"])
        let back = ["state": state, "code": "c1"]
        #expect(scene.directory.provider(of: ProviderParameters(back)) == "oidc.test")
        let assertion = try await scene.sign(in: "oidc.test", session: "session", back).get()
        #expect(assertion.rawID == "30001" && assertion.redirectTenant == "t1" && assertion.accessToken == "at")
        let request = try #require(scene.transport.requests.last { $0.url.hasSuffix("/token") })
        #expect(request.authorization == "Basic \(Base64.text(Array("oidc-client:oidc%3Asecret".utf8)))")
        #expect(request.form?.contains("grant_type=authorization_code&code=c1&redirect_uri=https%3A%2F%2Fapp.test") == true)
        #expect(request.form?.contains("client_secret") == false)
        #expect(await scene.error(in: "oidc.test", session: "session", back) == .duplicate)
    }

    @Test func aWrongSession() async throws {
        let (query, state) = try await begin()
        answer(nonce: query["nonce"])
        for session in [nil, "", "other"] {
            #expect(await scene.error(in: "oidc.test", session: session, ["state": state, "code": "c1"])?.code == "INVALID_IDP_RESPONSE")
        }
        #expect(scene.transport.count("\(Scene.issuer)/token") == 0)
    }

    @Test func aWrongState() async throws {
        let (_, state) = try await begin()
        let other = Scene { _ in }
        for text in ["", "x", "a.b", state + "A", "A" + state, String(state.dropLast())] {
            #expect(await scene.error(in: "oidc.test", session: "session", ["state": text, "code": "c"])?.code == "INVALID_IDP_RESPONSE")
        }
        #expect(other.directory.provider(of: ProviderParameters(["state": state])) == "oidc.test", "any loop opens it")
        #expect(await scene.error(in: "google.com", session: "session", ["state": state, "code": "c"])?.code == "INVALID_IDP_RESPONSE")
        scene.clock.advance(RedirectState.lifetimeSeconds)
        #expect(scene.directory.provider(of: ProviderParameters(["state": state])) == nil)
        #expect(await scene.error(in: "oidc.test", session: "session", ["state": state, "code": "c"])?.code == "INVALID_IDP_RESPONSE")
    }

    @Test func aTokenOfAnotherSignIn() async throws {
        let (query, _) = try await begin(id: "id-1")
        answer(nonce: query["nonce"])
        let (_, state) = try await begin(id: "id-2")
        #expect(await scene.error(in: "oidc.test", session: "session", ["state": state, "code": "c1"])?.code == "MISSING_OR_INVALID_NONCE")
        answer(nonce: nil)
        let (_, third) = try await begin(id: "id-3")
        #expect(await scene.error(in: "oidc.test", session: "session", ["state": third, "code": "c1"])?.code == "MISSING_OR_INVALID_NONCE")
    }

    @Test func anAccessTokenOfTheBrowserDoesNotCount() async throws {
        let (_, state) = try await begin("facebook.com")
        #expect(await scene.error(session: "session", ["state": state, "access_token": "EAAstolen"])?.code == "INVALID_IDP_RESPONSE")
        #expect(scene.transport.count("https://graph") == 0)
    }

    @Test func facebook() async throws {
        let (_, state) = try await begin("facebook.com")
        let graph = "https://graph.facebook.com/v23.0"
        scene.transport.on("\(graph)/oauth/access_token", ["access_token": "EAA1", "token_type": "bearer"])
        scene.transport.on(
            "\(graph)/debug_token",
            ["data": ["app_id": .string(appID), "type": "USER", "is_valid": true, "user_id": "1", "expires_at": 0]])
        scene.transport.on("\(graph)/me", ["id": "1", "name": "A"])
        #expect(try await scene.sign(session: "session", ["state": state, "code": "c"]).get().rawID == "1")
    }

    /// Apple takes a token in place of a client secret: the team signs it for the services id and for a short time.
    @Test func apple() async throws {
        let (query, state) = try await begin("apple.com")
        let claims: JSONValue = [
            "iss": "https://appleid.apple.com", "aud": "com.example.app", "sub": "a1", "iat": JSONValue(noon), "exp": JSONValue(noon + 60),
            "nonce": .string(query["nonce"] ?? ""),
        ]
        scene.transport.on("https://appleid.apple.com/auth/token", ["id_token": .string(IssuerKey.first.sign(claims)), "access_token": "at"])
        let back = ["state": state, "code": "c1", "user": #"{"name":{"firstName":"Ada"}}"#]
        let assertion = try await scene.sign(in: "apple.com", session: "session", back).get()
        #expect(assertion.rawID == "a1" && assertion.firstName == "Ada")
        let request = try #require(scene.transport.requests.last { $0.url.hasSuffix("/auth/token") })
        let form = FormText(request.form ?? "")
        #expect(form["client_id"] == "com.example.app" && form["code"] == "c1" && form["code_verifier"] == nil)
        let parts = try #require(form["client_secret"]).split(separator: ".").map(String.init)
        let bytes = parts.compactMap { Base64URL.bytes($0) }
        try #require(parts.count == 3 && bytes.count == 3)
        #expect(try JSONValue(parsing: bytes[0]) == ["alg": "ES256", "kid": "KEY1"])
        #expect(
            try JSONValue(parsing: bytes[1]) == [
                "iss": "TEAM1", "iat": JSONValue(noon), "exp": JSONValue(noon + 300), "aud": "https://appleid.apple.com",
                "sub": "com.example.app",
            ])
        let signature = try P256.Signing.ECDSASignature(rawRepresentation: bytes[2])
        #expect(appleKey.publicKey.isValidSignature(signature, for: Array("\(parts[0]).\(parts[1])".utf8)))
        #expect(AppleKey(teamID: "T", keyID: "K", pem: "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----") == nil)
    }

    @Test func appleWithoutAKeyHasNoPage() async {
        let scene = Scene { $0.apple?.key = nil }
        let page = await scene.directory.redirect("apple.com", redirectURI: Self.handler, sessionID: "s", id: "i")
        #expect(page == .failure(.notAllowed))
    }

    /// The page of a provider that gives no codes leads back with an ID token in the fragment.
    @Test func anIDTokenInsteadOfACode() async throws {
        let scene = Scene { $0.oidc["oidc.test"]?.usesCode = false }
        let redirect = try await scene.directory.redirect("oidc.test", redirectURI: Self.handler, sessionID: "session", id: "id").get()
        let query = try ProviderParameters(requestURI: redirect.url, postBody: nil)
        #expect(query["response_type"] == "id_token" && query["code_challenge"] == nil)
        let claims: JSONValue = [
            "iss": .string(Scene.issuer), "aud": "oidc-client", "sub": "30001", "iat": JSONValue(noon), "exp": JSONValue(noon + 60),
            "nonce": .string(query["nonce"] ?? ""),
        ]
        let address = "\(Self.handler)#id_token=\(IssuerKey.first.sign(claims))&access_token=stolen&state=\(redirect.state)"
        let back = try ProviderParameters(requestURI: address, postBody: nil)
        let assertion = try await scene.directory.assertion("oidc.test", back, sessionID: "session").get()
        #expect(assertion.rawID == "30001" && assertion.accessToken == nil)
        #expect(scene.transport.count("\(Scene.issuer)/token") == 0)
    }

    @Test func aProviderThatRefuses() async throws {
        let (_, state) = try await begin()
        let error = await scene.error(in: "oidc.test", session: "session", ["state": state, "error": "access_denied"])
        #expect(error?.detail == "The provider answers access_denied.")
        let strange = await scene.error(in: "oidc.test", session: "session", ["state": state, "error": "<script>"])
        #expect(strange?.detail == "The provider answers an error.")
        scene.transport.on("\(Scene.issuer)/token", ["error": "invalid_grant"], status: 400)
        let refused = await scene.error(in: "oidc.test", session: "session", ["state": state, "code": "c"])
        #expect(refused?.detail == "The provider does not accept the code.")
    }
}
