import HearthBytes
import Crypto
import Testing

@testable import Messaging

/// RFC 8291 section 5 and appendix A.
@Suite("Web Push")
struct WebPushTests {
    private static let browserKey = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
    private static let secret = "BTBZMqHH6r4Tts7J_aSIgg"

    private static func bytes(_ text: String) throws -> [UInt8] { try #require(Base64URL.bytes(text)) }

    @Test("the RFC's own message is encrypted to the RFC's own bytes")
    func vector() throws {
        let subscription = try WebPushSubscription(p256dh: Self.bytes(Self.browserKey), auth: Self.bytes(Self.secret))
        let key = try P256.KeyAgreement.PrivateKey(rawRepresentation: Self.bytes("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"))
        let body = try subscription.sealed(
            Array("When I grow up, I want to be a watermelon".utf8), key: key, salt: Self.bytes("DGv6ra1nlYgDCS1FRnbzlw"))
        let expected =
            "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A"
            + "_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
        #expect(Base64URL.text(body) == expected)
    }

    @Test("each message has a key and a salt of its own, and the longest fits")
    func isFresh() throws {
        let subscription = try WebPushSubscription(p256dh: Self.bytes(Self.browserKey), auth: Self.bytes(Self.secret))
        let text = [UInt8](repeating: 120, count: WebPushSubscription.plaintextBytesMax)
        let bodies = try [subscription.sealed(text), subscription.sealed(text)]
        #expect(bodies.map(\.count) == [4096, 4096])
        #expect(bodies[0][..<86] != bodies[1][..<86])
    }

    @Test("keys that are none are refused", arguments: [("", "BTBZMqHH6r4Tts7J_aSIgg"), (browserKey, "BTBZ"), ("BCVx", secret)])
    func badKeys(_ key: String, _ secret: String) throws {
        #expect(throws: WebPushSubscription.Problem.self) {
            try WebPushSubscription(p256dh: Self.bytes(key), auth: Self.bytes(secret))
        }
    }

    @Test(
        "endpoints are public hosts over https",
        arguments: [
            ("https://push.example.com/a?b=c", "https://push.example.com"), ("https://Push.Example.com:8443/a", "https://push.example.com:8443"),
            ("http://push.example.com/a", nil), ("https://localhost/a", nil), ("https://10.0.0.1/a", nil), ("https://127.1/a", nil),
            ("https://0x7f.0x1/a", nil), ("https://2130706433/a", nil), ("https://[::1]/a", nil), ("https://intranet/a", nil),
            ("https://a.internal/", nil), ("https://user@push.example.com/", nil), ("https://push.example.com\\@10.0.0.1/", nil),
            ("https://", nil), ("ftp://push.example.com/", nil), ("https://push.example.com/a b", nil), ("https://a..b/", nil),
        ])
    func addresses(_ url: String, _ origin: String?) { #expect(PushAddress(url, allowsLocal: false)?.origin == origin) }

    @Test("in development the same machine will do")
    func localAddresses() {
        #expect(PushAddress("http://127.0.0.1:9/a", allowsLocal: true)?.origin == "http://127.0.0.1:9")
        #expect(PushAddress("file:///etc/passwd", allowsLocal: true) == nil)
    }

    @Test("a token is used for half of its life, for each service its own")
    func authorization() throws {
        let key = VapidKey(P256.Signing.PrivateKey(), subject: "mailto:a@example.com")
        let first = try key.authorization(for: "https://a.example", now: 1000)
        #expect(try key.authorization(for: "https://a.example", now: 1000 + 21_599) == first)
        #expect(try key.authorization(for: "https://a.example", now: 1000 + 21_600) != first)
        #expect(try key.authorization(for: "https://b.example", now: 1000) != first)
        #expect(first.hasSuffix(", k=\(key.publicKey)"))
    }
}

@Suite("Answers of other services")
struct ForwardingAnswerTests {
    @Test(
        "Apple's answers",
        arguments: [
            (200, "", PushVerdict.done(.delivered)), (400, "BadDeviceToken", .done(.unregistered)),
            (400, "DeviceTokenNotForTopic", .done(.unregistered)), (410, "Unregistered", .done(.unregistered)),
            (410, "ExpiredToken", .done(.unregistered)), (403, "ExpiredProviderToken", .newToken),
            (403, "InvalidProviderToken", .done(.failed("Apple answered 403 InvalidProviderToken"))), (429, "TooManyRequests", .again(nil)),
            (500, "InternalServerError", .again(nil)), (503, "Shutdown", .again(nil)),
            (413, "PayloadTooLarge", .done(.failed("Apple says that the message is too large"))),
            (400, "BadTopic", .done(.failed("Apple answered 400 BadTopic"))),
        ])
    func apple(_ status: Int, _ reason: String, _ verdict: PushVerdict) { #expect(ApnsForwarder.verdict(status, reason) == verdict) }

    @Test(
        "dates of headers",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Tue, 29 Feb 2028 23:59:59 GMT", 1_835_481_599),
            ("Sun, 06 Nov 1994 08:49:37 CET", nil), ("yesterday", nil), ("Sun, 06 Nov 1994 25:49:37 GMT", nil),
        ] as [(String, Int64?)])
    func dates(_ text: String, _ seconds: Int64?) { #expect(HTTPDate.unixSeconds(text) == seconds) }

    @Test("waits double up to a minute, and a service's own word counts")
    func waits() {
        var times = RetryTimes()
        for base in [1, 2, 4, 8, 16, 32, 60, 60] as [UInt64] {
            #expect((base * 500...base * 1500).contains(times.next(asked: nil)))
        }
        #expect(times.next(asked: 7) == 7000)
        #expect(times.next(asked: 100_000) == 86_400_000)
        for asked in [0, -1] { #expect(times.next(asked: asked) >= 30_000, "a service that asks for none") }
    }
}
