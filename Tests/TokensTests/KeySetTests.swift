import HearthJSON
import Testing

@testable import Tokens

/// When keys are asked for: at first use, ahead of their end, for an unknown id, and never more often than allowed.
@Suite struct KeySetTests {
    private let noRoute = KeyFetchError("Keys from https://issuer/keys: no route")

    /// A key set on a fake issuer and a fake clock.
    private struct Scene {
        let clock = FakeClock()
        let reports = Reports()
        let issuer: FakeIssuer
        let keys: KeySet

        init(maxAge: Int? = 100, times: KeyTimes = KeyTimes()) throws {
            issuer = FakeIssuer(try keySet(.first), maxAge: maxAge)
            keys = KeySet(source: .url("https://issuer/keys"), fetcher: issuer, times: times, clock: clock.clock, report: reports.report)
        }

        /// The reason why a look-up fails; nil if it succeeds.
        func refusal(_ id: String) async -> TokenRefusal? {
            switch await keys.key(id) {
            case .success: nil
            case .failure(let refusal): refusal
            }
        }
    }

    @Test func asksAtFirstUseAndNotAgainWhileFresh() async throws {
        let scene = try Scene()
        #expect(scene.issuer.calls == 0)
        for _ in 0..<5 { #expect(await scene.refusal("first") == nil) }
        scene.clock.advance(89)
        #expect(await scene.refusal("first") == nil)
        #expect(scene.issuer.calls == 1)
        #expect(await scene.reports.next() == .refreshed(keyCount: 1, problems: []))
    }

    @Test func asksAheadOfTheEndWithoutLettingAnybodyWait() async throws {
        let scene = try Scene()
        #expect(await scene.refusal("first") == nil)
        scene.clock.advance(90)
        scene.issuer.hold()
        #expect(await scene.refusal("first") == nil)
        #expect(await scene.refusal("first") == nil)
        for await _ in scene.issuer.asked.dropFirst() { break }
        #expect(scene.issuer.calls == 2)
        scene.issuer.release()
        _ = await scene.reports.next()
        #expect(await scene.reports.next() == .refreshed(keyCount: 1, problems: []))
        scene.clock.advance(89)
        #expect(await scene.refusal("first") == nil)
        #expect(scene.issuer.calls == 2)
    }

    @Test(arguments: [(nil, 3600), (0, 10), (50, 50), (1_000_000, 86_400)] as [(Int?, Int)])
    func maxAgeIsHonouredWithinBounds(maxAge: Int?, lifetime: Int) async throws {
        let scene = try Scene(maxAge: maxAge)
        #expect(await scene.refusal("first") == nil)
        scene.clock.advance(lifetime - lifetime / 10 - 1)
        #expect(await scene.refusal("first") == nil)
        #expect(scene.issuer.calls == 1)
        scene.clock.advance(lifetime / 10 + 1)
        #expect(await scene.refusal("first") == nil)
        #expect(scene.issuer.calls == 2)
    }

    @Test func expiredKeysAreAskedForBeforeTheyAreUsed() async throws {
        let scene = try Scene()
        #expect(await scene.refusal("first") == nil)
        scene.issuer.answer(try keySet(.second), maxAge: 100)
        scene.clock.advance(100)
        #expect(await scene.refusal("first") == .keyUnknown)
        #expect(await scene.refusal("second") == nil)
        #expect(scene.issuer.calls == 2)
    }

    @Test func aClockSetBackMakesKeysOld() async throws {
        let scene = try Scene()
        #expect(await scene.refusal("first") == nil)
        scene.clock.advance(-1000)
        #expect(await scene.refusal("first") == nil)
        #expect(scene.issuer.calls == 2)
    }

    @Test func anUnknownIDAsksOnceAWhile() async throws {
        let scene = try Scene(maxAge: 86_400)
        #expect(await scene.refusal("first") == nil)
        for id in ["a", "b", "c"] { #expect(await scene.refusal(id) == .keyUnknown) }
        #expect(scene.issuer.calls == 2)
        scene.clock.advance(29)
        #expect(await scene.refusal("a") == .keyUnknown)
        #expect(scene.issuer.calls == 2)
        scene.clock.advance(1)
        #expect(await scene.refusal("a") == .keyUnknown)
        #expect(scene.issuer.calls == 3)
    }

    @Test func aNewKeyIsFoundAtOnce() async throws {
        let scene = try Scene(maxAge: 86_400)
        #expect(await scene.refusal("first") == nil)
        scene.issuer.answer(try keySet(.first, .second), maxAge: 86_400)
        #expect(await scene.refusal("second") == nil)
        #expect(await scene.refusal("first") == nil)
        #expect(scene.issuer.calls == 2)
    }

    @Test func oldKeysGoOnWhileNoNewOnesCanBeHad() async throws {
        var times = KeyTimes()
        times.staleMax = 1000
        let scene = try Scene(times: times)
        #expect(await scene.refusal("first") == nil)
        scene.issuer.fail()
        scene.clock.advance(100)
        #expect(await scene.refusal("first") == nil)
        #expect(scene.issuer.calls == 2)
        _ = await scene.reports.next()
        #expect(await scene.reports.next() == .failed(noRoute, keyCount: 1))
        scene.clock.advance(4)
        #expect(await scene.refusal("first") == nil)
        #expect(scene.issuer.calls == 2)
        // The next try does not hold up anybody.
        scene.issuer.hold()
        scene.clock.advance(1)
        #expect(await scene.refusal("first") == nil)
        for await _ in scene.issuer.asked.dropFirst(2) { break }
        scene.issuer.release()
        _ = await scene.reports.next()
        #expect(scene.issuer.calls == 3)
        scene.clock.advance(995)
        #expect(await scene.refusal("first") == .keysUnavailable)
        scene.issuer.answer(try keySet(.first), maxAge: 100)
        scene.clock.advance(5)
        #expect(await scene.refusal("first") == nil)
    }

    @Test func withoutKeysAFailureIsTriedAgainOnlyAfterAWhile() async throws {
        let scene = try Scene()
        scene.issuer.fail()
        for _ in 0..<3 { #expect(await scene.refusal("first") == .keysUnavailable) }
        #expect(scene.issuer.calls == 1)
        scene.issuer.answer(try keySet(.first), maxAge: 100)
        scene.clock.advance(5)
        #expect(await scene.refusal("first") == nil)
        #expect(scene.issuer.calls == 2)
    }

    @Test func anAnswerThatIsNoKeysKeepsTheOldOnes() async throws {
        let scene = try Scene()
        #expect(await scene.refusal("first") == nil)
        scene.issuer.answer("<html>busy</html>")
        scene.clock.advance(100)
        #expect(await scene.refusal("first") == nil)
    }

    @Test func manyWaitForOneRequest() async throws {
        let scene = try Scene()
        scene.issuer.hold()
        await withTaskGroup(of: TokenRefusal?.self) { group in
            for _ in 0..<50 { group.addTask { await scene.refusal("first") } }
            for await _ in scene.issuer.asked { break }
            scene.issuer.release()
            for await refusal in group { #expect(refusal == nil) }
        }
        #expect(scene.issuer.calls == 1)
    }

    @Test func aCancelledCallerDoesNotEndTheRequestOfTheOthers() async throws {
        let scene = try Scene()
        scene.issuer.hold()
        let cancelled = Task { await scene.refusal("first") }
        for await _ in scene.issuer.asked { break }
        let other = Task { await scene.refusal("first") }
        cancelled.cancel()
        scene.issuer.release()
        #expect(await other.value == nil)
        #expect(await cancelled.value == nil)
        #expect(scene.issuer.calls == 1)
    }

    @Test func theGenerationChangesWhenAKeyGoesOrIsReplaced() async throws {
        let scene = try Scene()
        try await scene.keys.load()
        #expect(scene.keys.generation == 0)
        scene.issuer.answer(try keySet(.first, .second))
        try await scene.keys.load()
        #expect(scene.keys.generation == 0)
        scene.issuer.answer(try keySet(.first))
        try await scene.keys.load()
        #expect(scene.keys.generation == 1)
        scene.issuer.answer(try keySet(SigningKey.second.renamed("first")))
        try await scene.keys.load()
        #expect(scene.keys.generation == 2)
    }

    @Test func loadingTellsOfAFailure() async throws {
        let scene = try Scene()
        scene.issuer.fail()
        await #expect(throws: noRoute) { try await scene.keys.load() }
        scene.issuer.answer(try keySet(.first))
        try await scene.keys.load()
        scene.issuer.fail()
        try await scene.keys.load()
    }

    @Test(arguments: [
        ("https://user:secret@issuer/keys?key=secret#x", "https://issuer/keys"), ("https://issuer/a@b", "https://issuer/a@b"),
        ("http://issuer", "http://issuer"), ("no address", "no address"),
    ]) func secretsInAnAddressAreNotShown(url: String, shown: String) {
        #expect(KeySource.url(url).description == shown)
    }

    @Test func anAddressNeedsAFetcher() async throws {
        await #expect(throws: KeyFetchError.self) { try await KeySet(source: .url("https://issuer/keys")).load() }
    }
}
