import Accounts
import FuzzSupport
import HearthJSON
import Testing

@testable import Authentication

/// The answers of functions that decide about users.
@Suite struct BlockingAnswerTests {
    private func changes(_ text: String, _ kind: BlockingKind = .beforeSignIn) throws -> BlockingChanges {
        try BlockingAnswer.changes(try BlockingAnswer.object(Array(text.utf8)), kind)
    }

    private func refusal(_ text: String, _ kind: BlockingKind = .beforeSignIn) -> String? {
        do {
            _ = try changes(text, kind)
            return nil
        } catch {
            return (error as? AuthError)?.message ?? "\(error)"
        }
    }

    @Test func changesAreRead() throws {
        #expect(try changes("") == BlockingChanges())
        #expect(try changes("null") == BlockingChanges())
        #expect(try changes(#"{"unknown":1}"#) == BlockingChanges())
        let all = try changes(
            #"{"displayName":"A","photoURL":null,"disabled":true,"emailVerified":false,"customClaims":{"a":1},"sessionClaims":{"b":2}}"#)
        #expect(all.displayName == "A" && all.photoURL == "" && all.isDisabled == true && all.isEmailVerified == false)
        #expect(all.customAttributes == #"{"a":1}"# && all.sessionClaims == ["b": 2])
        // Claims of a session belong to sign-ins.
        #expect(try changes(#"{"sessionClaims":{"iss":2}}"#, .beforeCreate) == BlockingChanges())
        #expect(try changes(#"{"recaptchaActionOverride":"ALLOW"}"#) == BlockingChanges())
    }

    @Test func wrongAnswersAreRefused() {
        let wrong = [
            "[1]": "Response body is not an object.", "{": "Response body is not valid JSON.", #"{"displayName":1}"#: "displayName must be a string.",
            #"{"disabled":"yes"}"#: "disabled must be a boolean.", #"{"customClaims":[]}"#: "customClaims must be an object.",
            #"{"sessionClaims":1}"#: "sessionClaims must be an object.",
            #"{"recaptchaActionOverride":"MAYBE"}"#: "recaptchaActionOverride must be ALLOW or BLOCK.",
        ]
        for (text, reason) in wrong { #expect(refusal(text) == "BLOCKING_FUNCTION_ERROR_RESPONSE : ((\(reason)))") }
        #expect(refusal(#"{"recaptchaActionOverride":"BLOCK"}"#)?.hasPrefix("CAPTCHA_CHECK_FAILED") == true)
    }

    @Test func textsByChance() throws {
        let words = [
            "displayName", "photoURL", "disabled", "emailVerified", "customClaims", "sessionClaims", "recaptchaActionOverride", "iss", "firebase",
            "null",
        ]
        let run = FuzzRun(try FuzzCorpus.load("BlockingAnswer/corpus"), words: words, rounds: 5000)
        let complaint = run.complaint { bytes in
            guard let answer = try? BlockingAnswer.object(bytes), let changes = try? BlockingAnswer.changes(answer, .beforeSignIn) else { return nil }
            let stored = changes.customAttributes.map { (try? JSONValue(parsing: $0))?.object }
            if let stored, stored == nil { return "claims that are no object are accepted" }
            let text = JSONValue.object(changes.sessionClaims).serialized()
            if (changes.customAttributes ?? "").utf16.count > 1000 || String(decoding: text, as: UTF8.self).utf16.count > 1000 { return "too large" }
            let names = Array(changes.sessionClaims.keys) + Array((stored ?? nil)?.keys.map { $0 } ?? [])
            return names.contains { ReservedClaims.names.contains($0) } ? "a reserved name is accepted" : nil
        }
        #expect(complaint == nil, "\(complaint ?? "")")
    }

    @Test func claimsHaveLimits() {
        for name in ReservedClaims.names {
            #expect(refusal(#"{"customClaims":{"\#(name)":1}}"#) == "FORBIDDEN_CLAIM : \(name)")
            #expect(refusal(#"{"sessionClaims":{"\#(name)":1}}"#) == "FORBIDDEN_CLAIM : \(name)")
        }
        func claims(_ count: Int) -> String { #"{"a":"\#(String(repeating: "x", count: count - 8))"}"# }
        #expect(refusal(#"{"customClaims":\#(claims(1000))}"#) == nil)
        #expect(refusal(#"{"customClaims":\#(claims(1001))}"#) == "CLAIMS_TOO_LARGE")
        #expect(refusal(#"{"sessionClaims":\#(claims(1001))}"#) == "CLAIMS_TOO_LARGE")
        // Each fits, but not both.
        let both = #"{"customClaims":\#(claims(600)),"sessionClaims":{"b":"\#(String(repeating: "x", count: 500))"}}"#
        #expect(refusal(both) == "CLAIMS_TOO_LARGE")
    }
}
