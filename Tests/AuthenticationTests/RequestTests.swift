import Accounts
import HearthBytes
import HearthJSON
import HTTP
import Testing

@testable import Authentication
@testable import IdentityProviders

struct RequestTests {
    private func path(_ text: String, host: String = "localhost:9099") -> AuthPath? {
        let (path, host) = (Array(text.utf8), Array(host.utf8))
        guard AuthPath.claims(path.span, host: host.span) else { return nil }
        return AuthPath(path.span, host: host.span)
    }

    @Test func pathsNameOperations() {
        let toolkit = "/identitytoolkit.googleapis.com"
        #expect(path("\(toolkit)/v1/accounts:signUp")?.operation == .signUp)
        #expect(path("\(toolkit)/v2/accounts/mfaEnrollment:start")?.operation == .startEnrolment)
        #expect(path("\(toolkit)/v1/projects")?.operation == .projects)
        #expect(path("/www.googleapis.com/identitytoolkit/v3/relyingparty/verifyPassword")?.operation == .signInWithPassword)
        #expect(path("/securetoken.googleapis.com/v1/token")?.operation == .token)
        #expect(path("/v1/token", host: "securetoken.googleapis.com")?.operation == .token)
        #expect(path("/v1/accounts:lookup", host: "identitytoolkit.googleapis.com:443")?.operation == .lookup)
        #expect(path("/v1/accounts:lookup") == nil)
        #expect(path("\(toolkit)/v1/tenants")?.operation == .unknown)
        #expect(path("\(toolkit)/v1/nothing")?.operation == .unknown)
        for tenant in ["", ":", ":createSessionCookie"] {
            #expect(path("\(toolkit)/v1/projects/p/tenants/\(tenant)")?.operation == .unknown)
        }
    }

    @Test func pathsOfAdministratorsNameProjectTenantAndObject() throws {
        let projects = "/identitytoolkit.googleapis.com/v2/projects/p"
        var found = try #require(path("\(projects)/accounts:lookup"))
        #expect((found.operation, found.project, found.tenant) == (.lookup, "p", ""))
        found = try #require(path("\(projects)/tenants/t/accounts"))
        #expect((found.operation, found.tenant) == (.create, "t"))
        found = try #require(path("\(projects)/tenants/t"))
        #expect((found.operation, found.tenant, found.id) == (.tenants, "", "t"))
        found = try #require(path("\(projects)/tenants/t:createSessionCookie"))
        #expect((found.operation, found.tenant) == (.createSessionCookie, "t"))
        found = try #require(path("\(projects):createSessionCookie"))
        #expect((found.operation, found.project) == (.createSessionCookie, "p"))
        found = try #require(path("\(projects)/tenants/t/oauthIdpConfigs/oidc.x"))
        #expect((found.operation, found.tenant, found.id) == (.oauthProviders, "t", "oidc.x"))
        found = try #require(path("/emulator/v1/projects/p/tenants/t/oobCodes"))
        #expect((found.operation, found.tenant) == (.emulatorCodes, "t"))
    }

    @Test func strangePathsAreUnknown() {
        for text in ["/identitytoolkit.googleapis.com/", "/identitytoolkit.googleapis.com/v1", "/emulator/v1/", "/emulator/v1/projects/p/"] {
            #expect(path(text)?.operation == .unknown, "\(text)")
        }
        #expect(path("/identitytoolkit.googleapis.com/v1/projects/p/")?.operation == .unknown)
        #expect(path("/identitytoolkit.googleapis.com/v1/projects/%zz/accounts")?.project == "%zz")
    }

    @Test func bodiesHaveCamelAndSnakeNames() throws {
        let body = try AuthBody(Array(#"{"id_token":"a","mfa":{"enrolled_at":"b"},"n":"12","f":1.0,"x":null}"#.utf8).span)
        #expect(try body.text("idToken") == "a")
        #expect(try body.body("mfa")?.text("enrolledAt") == "b")
        #expect(try body.integer("n") == 12)
        #expect(try body.integer("f") == 1)
        #expect(!body.has("x"))
        #expect(throws: AuthError.self) { try body.string("f") }
        #expect(throws: AuthError.self) { try body.strings("idToken") }
    }

    @Test func otherBodiesAreRefused() {
        for text in ["[1]", "{", "\"x\"", String(repeating: "[", count: 5000), String(repeating: "{\"a\":", count: 100)] {
            #expect(throws: AuthError.self) { try AuthBody(Array(text.utf8).span) }
        }
    }

    @Test func addressesOfPages() {
        #expect(WebOrigin(of: "http://localhost:3000/a?b=c#d")?.host == "localhost")
        #expect(WebOrigin(of: "http://localhost:3000/a?b=c#d")?.query == "b=c")
        #expect(WebOrigin(of: "http://localhost#d?e")?.fragment == "d?e")
        for text in ["nope", "http:/x", "//x", "https://a@b", "https://", "java script://x", "https://a\\@b", "https://a b"] {
            #expect(WebOrigin(of: text) == nil, "\(text)")
        }
        #expect(WebOrigin(of: "https://app.example.org/")?.isIn(["example.org"]) == true)
        #expect(WebOrigin(of: "https://notexample.org/")?.isIn(["example.org"]) == false)
        #expect(WebOrigin(of: "https://example.org.evil.test/")?.isIn(["example.org"]) == false)
    }

    @Test func formsAreDecoded() {
        let form = FormText("a=%7B%22x%22%3A1%7D&b=c+d&a2&e=%zz")
        #expect(form["a"] == "{\"x\":1}")
        #expect(form["b"] == "c d")
        #expect(form["a2"] == "")
        #expect(form["e"] == "%zz", "as in browsers")
        #expect(FormText.encoded("ä b&") == "%C3%A4%20b%26")
    }

    @Test func namesThatTheClientChoosesStay() throws {
        let text = #"{"custom_parameter":{"access_type":"offline","a_b":{"c_d":1}},"other_part":{"a_b":1},"test_phone_numbers":{"+1_5":"1"}}"#
        let body = try AuthBody(Array(text.utf8).span)
        #expect(body.object["customParameter"] == ["access_type": "offline", "a_b": ["c_d": 1]])
        #expect(body.object["otherPart"] == ["aB": 1])
        #expect(body.object["testPhoneNumbers"] == ["+1_5": "1"])
    }

    @Test func masksChangeOnlyWhatTheyName() {
        let defaults: JSONObject = ["mfa": ["state": "ENABLED", "enabledProviders": ["PHONE_SMS"]], "list": [1], "privacy": false]
        var changes = ProjectChanges()
        UpdateMask("mfa.state,missing,list.x").apply(["mfa": ["state": "DISABLED"], "list": ["x": 1]], to: &changes, defaults: defaults)
        #expect(changes.applied(to: ["mfa": ["state": "MANDATORY", "more": 1], "list": [2]])
            == ["mfa": ["state": "DISABLED", "more": 1], "list": [2]])
        UpdateMask(nil).apply(["privacy": true, "none": .null], to: &changes, defaults: defaults)
        #expect(changes.applied(to: defaults) == ["mfa": ["state": "ENABLED", "enabledProviders": ["PHONE_SMS"]], "list": [1], "privacy": true])
    }

    @Test func masksReplaceOnlyWhatTheyName() {
        let old: JSONObject = ["mfa": ["state": "ENABLED", "enabledProviders": ["PHONE_SMS"]], "name": "n", "list": [1]]
        let change: JSONObject = ["mfa": ["state": "DISABLED"], "name": "m"]
        let masked = UpdateMask("mfa.state,missing,list.x").apply(change, to: old, defaults: [:])
        #expect(JSONValue.object(masked)["mfa"]?["state"] == "DISABLED")
        #expect(JSONValue.object(masked)["mfa"]?["enabledProviders"] == ["PHONE_SMS"])
        #expect(masked["name"] == "n")
        #expect(masked["list"] == [1])
        #expect(UpdateMask("").apply(change, to: old, defaults: ["d": 1]) == ["d": 1, "mfa": ["state": "DISABLED"], "name": "m"])
    }

    @Test func timesHaveThreeDigits() {
        #expect(TimeText.text(milliseconds: 1_700_000_000_007) == "2023-11-14T22:13:20.007Z")
        for milliseconds in [0, 951_782_400_000, 1_700_000_000_007, 4_102_444_800_999] as [Int64] {
            #expect(TimeText.milliseconds(TimeText.text(milliseconds: milliseconds)) == milliseconds)
        }
        #expect(TimeText.milliseconds("yesterday") == nil)
    }

    @Test func phonesAndEmails() {
        #expect(AccountText.obfuscated(phone: "+15555550123") == "+*******0123")
        #expect(AccountText.isPhone("+15555550100", isStrict: true))
        for text in ["5555550100", "+0555", "+1", "+1555a", "+12345678901234567"] { #expect(!AccountText.isPhone(text, isStrict: true), "\(text)") }
        for text in ["a", "@b", "a@", "a@b@c", "a b@c", "a@b\u{0}"] { #expect(!AccountText.isEmail(text), "\(text)") }
    }
}
