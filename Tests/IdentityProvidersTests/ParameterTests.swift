import FuzzSupport
import HearthJSON
import HTTP
import Testing

@testable import IdentityProviders
@testable import Tokens

/// The parsers of this module: parameters, addresses, tokens, key documents.
@Suite struct ParameterTests {
    @Test func merging() throws {
        let parameters = try ProviderParameters(
            requestURI: "http://localhost/x?a=query&b=query&c=query#c=fragment&d=%7B%22x%22%3A1%7D", postBody: "b=body&c=body&e=a+b&f=&g")
        #expect(parameters["a"] == "query" && parameters["b"] == "body" && parameters["c"] == "fragment")
        #expect(parameters["d"] == #"{"x":1}"# && parameters["e"] == "a b" && parameters["f"] == nil && parameters["g"] == nil)
        #expect(parameters.names == ["a", "b", "c", "d", "e", "f", "g"])
    }

    @Test func decoding() throws {
        let parameters = try ProviderParameters(requestURI: "http://localhost", postBody: "a=%zz%4&b=%C3%A9%ff&a%20b=1&=x&c=1=2&c2=%2B")
        #expect(parameters["a"] == "%zz%4" && parameters["b"] == "é\u{FFFD}" && parameters["a b"] == "1" && parameters["c"] == "1=2")
        #expect(parameters["c2"] == "+")
    }

    @Test(arguments: [
        "nope", "", "/path", "//host", "http:", "http://", "http:///x", "http://u@host", "http://a b", "http://a\\b", "1http://a", "http://a:x",
    ])
    func addressesThatAreNone(text: String) {
        #expect(throws: AssertionError("INVALID_REQUEST_URI")) { try ProviderParameters(requestURI: text, postBody: nil) }
    }

    @Test func bounds() {
        let long = "a=" + String(repeating: "x", count: ProviderParameters.bytesMax)
        #expect(throws: AssertionError.self) { try ProviderParameters(requestURI: "http://localhost", postBody: long) }
    }

    @Test func domains() throws {
        let origin = try #require(WebOrigin(of: "HTTPS://App.Example.org:8443/x?y#z"))
        #expect(origin.scheme == "https" && origin.host == "app.example.org")
        #expect(origin.isIn(["example.ORG"]) && origin.isIn(["app.example.org"]) && !origin.isIn(["xample.org", "", "b.app.example.org"]))
        for (text, usable) in [
            ("https://a.test", true), ("http://a.test", false), ("http://127.0.0.1:1/x", true), ("http://[::1]/", true), ("http://localhost", true),
            ("http://localhost.evil.test", false), ("ftp://localhost", false), ("http://127.0.0.1@evil.test", false), ("https:a", false),
        ] {
            #expect(WebOrigin.isUsable(text) == usable, "\(text)")
        }
    }

    // MARK: Fuzzing

    @Test func fuzzParameters() throws {
        let run = FuzzRun(
            try FuzzCorpus.load("IdentityProviders/corpus/parameters"), words: ["providerId=", "&", "=", "%", "id_token=", "http://", "#", "?", "+"],
            rounds: 20_000)
        let complaint = run.complaint { bytes in
            let text = String(decoding: bytes, as: UTF8.self)
            guard let parameters = try? ProviderParameters(requestURI: "http://localhost/?a=1", postBody: text) else { return nil }
            // Parsed parameters mean the same when they are written again.
            let pairs = parameters.names.map { ($0, parameters[$0] ?? "") }
            guard let again = try? ProviderParameters(requestURI: "http://localhost", postBody: FormText.query(pairs)) else {
                return "the parameters cannot be written again"
            }
            if again != parameters { return "the parameters change when they are written again" }
            _ = try? ProviderParameters(requestURI: text, postBody: nil)
            return nil
        }
        #expect(complaint == nil)
    }

    @Test func fuzzTokens() throws {
        let rules = IDTokenRules(provider: "facebook.com", issuers: ["https://www.facebook.com"], audiences: [appID])
        let run = FuzzRun(
            try FuzzCorpus.load("IdentityProviders/corpus/tokens"), words: [".", "=", "eyJ", "none", "\"aud\":", "\"nonce\":"], rounds: 20_000)
        let complaint = run.complaint { bytes in
            let text = String(decoding: bytes, as: UTF8.self)
            if let token = try? UncheckedToken(text), (try? rules.check(token.claims, now: noon)) != nil,
                token.claims["iss"]?.string != "https://www.facebook.com" {
                return "the claims of another issuer are accepted"
            }
            return nil
        }
        #expect(complaint == nil)
    }

    @Test func fuzzKeys() throws {
        let run = FuzzRun(
            try FuzzCorpus.load("IdentityProviders/corpus/keys"), words: ["\"kty\":\"EC\"", "\"crv\":\"P-256\"", "\"x\":", "\"kid\":\"\"", "[", "{"],
            rounds: 5000)
        let complaint = run.complaint { bytes in
            guard let document = try? KeyDocument(parsing: bytes, algorithms: ["RS256", "ES256"]) else { return nil }
            return document.keys.isEmpty || document.keys.keys.contains("") ? "a document without usable keys is accepted" : nil
        }
        #expect(complaint == nil)
    }

    @Test func fuzzDiscovery() throws {
        let run = FuzzRun(
            try FuzzCorpus.load("IdentityProviders/corpus/discovery"), words: ["https://issuer.test", "http://", "\"jwks_uri\":", "127.0.0.1"],
            rounds: 10_000)
        let complaint = run.complaint { bytes in
            let answer = ProviderAnswer(status: 200, body: bytes)
            guard let found = OIDCIssuers.endpoints(answer.json, issuer: Scene.issuer) else { return nil }
            let all = [found.keyURL, found.authorizationURL, found.tokenURL].compactMap(\.self)
            return all.allSatisfy { $0.lowercased().hasPrefix("https://") } ? nil : "an address that is not https is accepted"
        }
        #expect(complaint == nil)
    }
}
