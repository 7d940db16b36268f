import Crypto
import HearthJSON
import Testing

@testable import IdentityProviders

/// Facebook's classic login (spec auth 3.2).
@Suite struct ClassicLoginTests {
    let scene = Scene()
    private static let graph = "https://graph.facebook.com/v23.0"
    private static let debug: JSONValue = [
        "app_id": .string(appID), "type": "USER", "is_valid": true, "user_id": "10001", "expires_at": JSONValue(noon + 100),
    ]
    private static let person: JSONValue = [
        "id": "10001", "name": "Alice Fake", "first_name": "Alice", "last_name": "Fake", "email": "Alice@Example.com",
        "picture": ["data": ["url": "https://fake.test/a.jpg"]],
    ]

    private func answer(debug: [String: JSONValue] = [:], person: [String: JSONValue] = [:]) {
        scene.transport.on("\(Self.graph)/debug_token", ["data": changed(Self.debug, debug)])
        scene.transport.on("\(Self.graph)/me", changed(Self.person, person))
    }

    @Test func aGoodToken() async throws {
        answer()
        let assertion = try await scene.sign(["access_token": "EAA|1"]).get()
        #expect(assertion.rawID == "10001" && assertion.email == "alice@example.com" && !assertion.isEmailVerified)
        #expect(assertion.photoURL == "https://fake.test/a.jpg" && assertion.accessTokenSeconds == 100)
        #expect(assertion.profile["first_name"] == "Alice")
        let urls = scene.transport.requests.map(\.url)
        #expect(urls[0] == "\(Self.graph)/debug_token?input_token=EAA%7C1&access_token=1234567890%7Cfbsecret-do-not-leak")
        let proof = HMAC<SHA256>.authenticationCode(for: Array("EAA|1".utf8), using: SymmetricKey(data: Array(appSecret.utf8)))
        #expect(urls[1].hasSuffix("&access_token=EAA%7C1&appsecret_proof=\(IDTokenRules.hex(proof))"))
        #expect(try await scene.sign(["access_token": "EAA|1"]).get() == assertion, "a classic token may be presented again")
    }

    @Test func whatFacebookMayLeaveOut() async throws {
        answer(debug: ["app_id": 1_234_567_890, "expires_at": 0], person: ["email": .null, "picture": .null, "first_name": .null])
        let assertion = try await scene.sign(["access_token": "EAA"]).get()
        #expect(assertion.email == nil && assertion.photoURL == nil && assertion.accessTokenSeconds == nil)
    }

    @Test func anotherApp() async {
        answer(debug: ["app_id": "999"])
        let text = "INVALID_IDP_RESPONSE : The access token was issued for a different Facebook app."
        #expect(await scene.error(["access_token": "EAA"])?.message == text)
        #expect(scene.transport.count("\(Self.graph)/me") == 0)
    }

    @Test(arguments: [
        ["is_valid": false], ["is_valid": "true"], ["is_valid": .null], ["type": "APP"], ["type": .null], ["user_id": ""], ["user_id": .null],
        ["expires_at": 1], ["expires_at": .null], ["expires_at": "0"], ["app_id": .null], ["user_id": "10002"],
    ] as [[String: JSONValue]])
    func answersThatDoNotCount(debug: [String: JSONValue]) async {
        answer(debug: debug)
        let error = await scene.error(["access_token": "EAAsecret"])
        #expect(error?.code == "INVALID_IDP_RESPONSE" && error?.status == 400)
    }

    @Test func theTextOfFacebookIsNotRepeated() async {
        let error: JSONValue = ["message": "bad EAAsecret", "type": "OAuthException", "code": 190, "error_subcode": 463, "fbtrace_id": "x"]
        scene.transport.on("\(Self.graph)/debug_token", ["error": error], status: 400)
        let text = "Unsuccessful debug_token response from Facebook: {\"error\":{\"type\":\"OAuthException\",\"code\":190,\"error_subcode\":463}}"
        #expect(await scene.error(["access_token": "EAAsecret"])?.detail == "\(text) (the token has expired)")
    }

    @Test func trouble() async {
        let remote = AssertionError.remote("facebook.com")
        #expect(remote.status == 503 && remote.message == "INVALID_IDP_RESPONSE : Remote site 5XX from facebook.com for VERIFY_CREDENTIAL")
        #expect(await scene.error(["access_token": "EAA"]) == remote)
        #expect(scene.transport.requests.count == 2, "one repetition")
        scene.transport.on("\(Self.graph)/debug_token", "oops", status: 500)
        #expect(await scene.error(["access_token": "EAA"]) == remote)
        answer()
        scene.transport.on("\(Self.graph)/me", "oops", status: 502)
        #expect(await scene.error(["access_token": "EAA"]) == remote)
        scene.transport.on("\(Self.graph)/me") { _ in ProviderAnswer(status: 200, body: Array("<html>".utf8)) }
        #expect(await scene.error(["access_token": "EAA"]) == FacebookProvider.generic)
        scene.transport.on("\(Self.graph)/me", ["error": ["code": 190]], status: 400)
        #expect(await scene.error(["access_token": "EAA"]) == FacebookProvider.generic)
    }

    @Test func aLimitedTokenInTheWrongField() async {
        let token = IssuerKey.first.sign(limitedClaims())
        let text = "Facebook access_token is a Limited Login token; send it as id_token with its raw nonce."
        #expect(await scene.error(["access_token": token])?.detail == text)
        #expect(scene.transport.requests.isEmpty)
    }

    @Test func facebookIsOff() async {
        let scene = Scene { $0.facebook = nil }
        #expect(await scene.error(["access_token": "EAA"])?.code == "OPERATION_NOT_ALLOWED")
        #expect(await scene.error(in: "oidc.other", ["id_token": "x"])?.code == "OPERATION_NOT_ALLOWED")
        #expect(await scene.error(in: "github.com", ["access_token": "x"])?.code == "OPERATION_NOT_ALLOWED")
    }

    @Test func plainHTTPIsForThisMachine() async {
        let scene = Scene { $0.facebook?.graphBaseURL = "http://graph.test" }
        #expect(await scene.error(["access_token": "EAA"]) == .remote("facebook.com"))
        #expect(scene.transport.requests.isEmpty)
    }
}
