import HearthJSON
import Testing

@testable import Tokens

/// Remembering tokens: only good ones, only while they hold, and never too many.
@Suite struct TokenCacheTests {
    private func entry(_ name: String, size: Int = 0) -> TokenCache.Entry {
        let verified = VerifiedToken(
            text: Array(name.utf8), subject: name, claims: [UInt8](repeating: 0, count: size), expires: noon, validUntil: noon, isUnsigned: false)
        return TokenCache.Entry(verified: verified, generation: 0)
    }

    @Test func findsTheVeryText() {
        var cache = TokenCache(entriesMax: 4, bytesMax: 1 << 20)
        cache.insert(entry("a"))
        #expect(cache.find(Array("a".utf8).span)?.verified.subject == "a")
        #expect(cache.find(Array("b".utf8).span) == nil)
        #expect(cache.find([UInt8]().span) == nil)
    }

    @Test func staysWithinItsBounds() {
        var cache = TokenCache(entriesMax: 10, bytesMax: 10_000)
        for number in 0..<1000 {
            cache.insert(entry("\(number)", size: number % 1500))
            #expect(cache.count <= 10)
            #expect(cache.bytes <= 10_000)
        }
    }

    @Test func keepsWhatIsUsed() {
        var cache = TokenCache(entriesMax: 10, bytesMax: 1 << 20)
        cache.insert(entry("used"))
        for number in 0..<1000 {
            cache.insert(entry("\(number)"))
            #expect(cache.find(Array("used".utf8).span) != nil)
        }
        #expect(cache.find(Array("0".utf8).span) == nil)
    }

    @Test func doesNotTakeWhatIsTooLarge() {
        var cache = TokenCache(entriesMax: 10, bytesMax: 1000)
        cache.insert(entry("a"))
        cache.insert(entry("large", size: 1000))
        #expect(cache.find(Array("large".utf8).span) == nil)
        #expect(cache.find(Array("a".utf8).span) != nil)
    }

    @Test func insertingAgainAndRemovingKeepCount() {
        var cache = TokenCache(entriesMax: 4, bytesMax: 1 << 20)
        for _ in 0..<20 { cache.insert(entry("a")) }
        #expect(cache.count == 1)
        cache.remove(Array("a".utf8).span)
        #expect(cache.count == 0)
        #expect(cache.bytes == 0)
    }

    @Test func aVerifiedTokenIsKnownUntilItExpires() async throws {
        let clock = FakeClock()
        let verifier = try TokenVerifier.idTokens(.first, clock: clock)
        let token = try SigningKey.first.token(idClaims(["exp": JSONValue(noon + 100)]))
        let bytes = Array(token.utf8)
        #expect(verifier.cached(bytes.span) == nil)
        let verified = try await verifier.verify(token).get()
        #expect(verifier.cached(bytes.span) == verified)
        #expect(verifier.cached(bytes.span, now: noon + 99) == verified)
        #expect(verifier.cached(bytes.span, now: noon + 100) == nil)
        clock.advance(100)
        #expect(await verifier.refusal(token) == .expired)
    }

    @Test func aRefusedTokenIsNotRemembered() async throws {
        let verifier = try TokenVerifier.idTokens(.first)
        let token = try SigningKey.second.renamed("first").token(idClaims())
        #expect(await verifier.refusal(token) == .signature)
        #expect(verifier.cached(Array(token.utf8).span) == nil)
    }

    @Test func aKeyThatGoesTakesItsTokensWithIt() async throws {
        let clock = FakeClock()
        let issuer = FakeIssuer(try keySet(.first, .second))
        let keys = KeySet(source: .url("https://issuer/keys"), fetcher: issuer, clock: clock.clock)
        let verifier = TokenVerifier(rules: .idToken(project: project), keys: keys, clock: clock.clock)
        let token = try SigningKey.first.token(idClaims())
        #expect(await verifier.refusal(token) == nil)
        issuer.answer(try keySet(.second))
        try await keys.load()
        #expect(verifier.cached(Array(token.utf8).span) == nil)
        #expect(await verifier.refusal(token) == .keyUnknown)
    }

    @Test func aRememberedTokenAsksForNewerKeysInTime() async throws {
        let clock = FakeClock()
        let reports = Reports()
        let issuer = FakeIssuer(try keySet(.first), maxAge: 100)
        let keys = KeySet(source: .url("https://issuer/keys"), fetcher: issuer, clock: clock.clock, report: reports.report)
        let verifier = TokenVerifier(rules: .idToken(project: project), keys: keys, clock: clock.clock)
        let token = Array(try SigningKey.first.token(idClaims()).utf8)
        _ = try await verifier.verify(token).get()
        _ = await reports.next()
        clock.advance(95)
        #expect(verifier.cached(token.span) != nil)
        _ = await reports.next()
        #expect(issuer.calls == 2)
        issuer.fail()
        clock.advance(100)
        #expect(verifier.cached(token.span) == nil)
        #expect(await reports.next() == .failed(KeyFetchError("Keys from https://issuer/keys: no route"), keyCount: 1))
        #expect(verifier.cached(token.span) != nil)
    }

    @Test func junkDoesNotMakeUsAskForKeys() async throws {
        let issuer = FakeIssuer(try keySet(.first))
        let clock = FakeClock()
        let keys = KeySet(source: .url("https://issuer/keys"), fetcher: issuer, clock: clock.clock)
        let verifier = TokenVerifier(rules: .idToken(project: project), keys: keys, clock: clock.clock)
        #expect(verifier.cached(Array("x".utf8).span) == nil)
        for token in ["x", unsignedToken(idClaims()), try SigningKey.first.token(idClaims(["aud": "other"]))] {
            #expect(await verifier.refusal(token) != nil)
        }
        #expect(issuer.calls == 0)
    }
}
