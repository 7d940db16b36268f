import Accounts
import HTTP
import Testing
import IdentityProviders

@testable import Authentication

/// The pages of popup and redirect: which there are, where they may lead, and that no text of a user becomes part of a page's markup.
struct SignInPagesTests {
    @Test func paths() {
        for path in ["/__/auth/handler", "/emulator/auth/handler"] { #expect(SignInPages.kind(path, isStrict: false) == .handler) }
        for path in ["/__/auth/iframe", "/emulator/auth/iframe"] { #expect(SignInPages.kind(path, isStrict: false) == .frame) }
        #expect(SignInPages.kind("/__/auth/handler", isStrict: true) == .handler)
        #expect(SignInPages.kind("/emulator/auth/handler", isStrict: true) == nil)
        #expect(SignInPages.kind("/emulator/auth/iframe", isStrict: true) == nil)
        for path in ["/__/auth/", "/__/auth/handler/", "/__/auth/other", "/emulator/auth/"] {
            #expect(SignInPages.kind(path, isStrict: false) == nil)
        }
    }

    private func refusal(_ query: String, isStrict: Bool, nativeApps: [String]? = nil) -> String? {
        SignInPages.refusal(FormText(query), authorizedDomains: ["localhost", "example.org"], nativeApps: nativeApps, isStrict: isStrict)
    }

    @Test func nativeApplicationsAreNamed() {
        let known = ["com.example.app", "1:2:ios:3"]
        let start = "apiKey=k&providerId=p"
        for query in ["", "&apn=com.example.app", "&ibi=com.example.app", "&ibi=com.example.app&appId=1:2:ios:3", "&clientId=x", "&apn=&ibi="] {
            #expect(refusal(start + query, isStrict: true, nativeApps: known) == nil)
        }
        let refused = ["&apn=com.evil", "&ibi=com.evil", "&ibi=com.example.app&clientId=evil", "&ibi=com.example.app&appId=1:2:ios:4",
            "&apn=com.example.app&ibi=com.evil"]
        for query in refused {
            #expect(refusal(start + query, isStrict: true, nativeApps: known) == "auth.nativeApps does not name the application")
            #expect(refusal(start + query, isStrict: true) == nil)
        }
    }

    @Test func repeatedParametersAreNotPlain() {
        for query in ["", "a=b", "a=b&c=d", "a=b&"] { #expect(SignInPages.isPlain(query)) }
        for query in ["a=b&a=c", "apn=x&%61pn=y", String(repeating: "a&", count: 1200), "=x&a=b"] { #expect(!SignInPages.isPlain(query)) }
    }

    @Test(arguments: [false, true]) func parametersThatAreNeeded(isStrict: Bool) {
        #expect(refusal("apiKey=k&providerId=facebook.com", isStrict: isStrict) == nil)
        for query in ["", "apiKey=k", "providerId=p", "apiKey=&providerId=p", "apiKey=k&providerId="] {
            #expect(refusal(query, isStrict: isStrict) == "missing apiKey or providerId query parameters")
        }
    }

    @Test func redirectsGoToAuthorizedDomains() {
        func page(_ address: String, isStrict: Bool) -> Bool {
            refusal("apiKey=k&providerId=p&redirectUrl=\(FormText.encoded(address))", isStrict: isStrict) == nil
        }
        for address in ["https://example.org/a?b", "https://app.example.org", "http://localhost:5000/"] {
            #expect(page(address, isStrict: true))
            #expect(page(address, isStrict: false))
        }
        for address in [
            "https://evil.test/", "https://example.org.evil.test/", "https://evilexample.org", "https://example.org@evil.test/",
            "https://evil.test\\@example.org/",
        ] { #expect(!page(address, isStrict: true)) }
        for address in ["javascript:alert(1)", "javascript://example.org/%0aalert(1)", "data:text/html,x", "//example.org", "/path", "", " "] {
            #expect(!page(address, isStrict: true))
            #expect(!page(address, isStrict: false))
        }
    }

    @Test func textsAreEscaped() {
        let evil = "</script><script>alert(1)</script>\"'`&"
        var account = LinkedProvider(provider: evil, rawID: evil)
        account.email = evil
        account.displayName = evil
        account.photoURL = evil
        let page = SignInPages.widget(provider: evil, accounts: [account])
        // The page's own script is the only one.
        #expect(page.text.components("<script").count == 2)
        #expect(!page.text.contains("alert(1)</script>"))
        #expect(!page.text.contains("\"'`"))
        #expect(page.text.contains("data-claims=\"{&quot;sub&quot;:"))
    }

    @Test func policies() {
        let page = SignInPages.widget(provider: "facebook.com", accounts: [])
        let policy = page.policy(ancestors: "'none'")
        for part in ["default-src 'none'", "script-src 'sha256-", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"] {
            #expect(policy.contains(part))
        }
        #expect(!policy.contains("unsafe"))
        // The accounts are not part of what the policy admits.
        var account = LinkedProvider(provider: "facebook.com", rawID: "1")
        account.email = "a@example.org"
        #expect(SignInPages.widget(provider: "facebook.com", accounts: [account]).policy(ancestors: "'none'") == policy)
        let strict = SignInPages.ancestors(authorizedDomains: ["localhost", "example.org", "a; script-src *"], isStrict: true)
        #expect(strict == "https://localhost:* https://*.localhost:* http://localhost:* https://example.org:* https://*.example.org:*")
        #expect(SignInPages.ancestors(authorizedDomains: [], isStrict: true) == "'none'")
    }
}

extension String {
    fileprivate func components(_ separator: String) -> [Substring] { split(separator: separator, omittingEmptySubsequences: false) }
}
