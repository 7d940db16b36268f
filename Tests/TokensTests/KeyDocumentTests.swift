import HearthJSON
import Testing

@testable import Tokens

/// Key Sets and certificate maps: accepted keys, skipped keys, and the reports on them.
@Suite struct KeyDocumentTests {
    private func parse(_ document: JSONValue) throws -> KeyDocument { try KeyDocument(parsing: document.serialized()) }

    @Test func readsAKeySet() throws {
        let document = try parse(["keys": [SigningKey.first.jwk(), SigningKey.second.jwk()]])
        #expect(document.keys.keys.sorted() == ["first", "second"])
        #expect(document.problems.isEmpty)
    }

    @Test func readsCertificates() throws {
        let document = try parse(["a": .string(SigningKey.first.certificate()), "b": .string(SigningKey.second.certificate())])
        #expect(document.keys.keys.sorted() == ["a", "b"])
        #expect(document.problems.isEmpty)
        let same = try parse(["keys": [SigningKey.first.jwk()]])
        #expect(document.keys["a"]?.fingerprint == same.keys["first"]?.fingerprint)
    }

    @Test(arguments: [
        ["kty": "EC", "kid": "x", "crv": "P-256"], ["kty": "oct", "kid": "x", "k": "AAAA"], ["kty": "OKP"], ["kty": "RSA", "use": "enc"],
        ["kty": "RSA", "alg": "RS512", "kid": "x"], ["kty": "quantum", "kid": "x"],
    ] as [JSONValue])
    func otherKeysAreNoneOfOurBusiness(key: JSONValue) throws {
        let document = try parse(["keys": [key, SigningKey.first.jwk()]])
        #expect(document.keys.keys.sorted() == ["first"])
        #expect(document.problems.isEmpty)
    }

    @Test(arguments: ["use", "alg"]) func purposeAndAlgorithmMayBeLeftOut(member: String) throws {
        var key = try SigningKey.first.jwk()
        key[member] = Optional.none
        #expect(try parse(["keys": [key]]).keys.count == 1)
    }

    @Test(arguments: [
        ("kid", .null, "Key 1 has no \"kid\"."), ("kid", "", "Key 1 has no \"kid\"."), ("kty", .null, "Key 1 has no \"kty\"."),
        ("n", .null, "Key 1 (\"second\") has no \"n\" and \"e\" in base64url."),
        ("n", "+/==", "Key 1 (\"second\") has no \"n\" and \"e\" in base64url."),
        ("e", 3, "Key 1 (\"second\") has no \"n\" and \"e\" in base64url."),
        ("n", "AQAB", "Key 1 (\"second\") is not an RSA public key of at least 2048 bits."),
        ("e", "AQ", "Key 1 (\"second\") is not an RSA public key of at least 2048 bits."),
        ("kid", "first", "Key 1 (\"first\") has the id of another key."),
    ] as [(String, JSONValue, String)])
    func saysWhichKeyIsWrong(member: String, value: JSONValue, problem: String) throws {
        var wrong = try SigningKey.second.jwk()
        wrong[member] = value.isNull ? Optional.none : value
        let document = try parse(["keys": [SigningKey.first.jwk(), wrong]])
        #expect(document.keys.keys.sorted() == ["first"])
        #expect(document.problems == [problem])
    }

    @Test func keysBelow2048BitsAreRefused() throws {
        #expect(throws: KeyFetchError.self) { try parse(["keys": [SigningKey.small.jwk()]]) }
        #expect(throws: KeyFetchError.self) { try parse(["small": .string(SigningKey.small.certificate())]) }
    }

    @Test func saysWhichCertificateIsWrong() throws {
        let document = try parse(["good": .string(SigningKey.first.certificate()), "bad": "-----BEGIN CERTIFICATE-----", "odd": 1])
        #expect(document.keys.keys.sorted() == ["good"])
        #expect(document.problems == ["Certificate \"bad\" is not an RSA public key of at least 2048 bits.", "Certificate \"odd\" is not a text."])
    }

    @Test(arguments: ["", "x", "[]", "{}", "{\"keys\":[]}", "{\"keys\":{}}", "<html>", "{\"keys\":[1,null,\"x\",[]]}", "{\"error\":\"not found\"}"])
    func refusesWhatHoldsNoKey(text: String) throws {
        #expect(throws: KeyFetchError.self) { try KeyDocument(parsing: Array(text.utf8)) }
    }
}
