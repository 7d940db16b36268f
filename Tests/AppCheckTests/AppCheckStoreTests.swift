import Synchronization
import Testing

@testable import AppCheck

/// The store of apps.
@Suite struct AppCheckStoreTests {
    private final class Time: Sendable {
        let seconds = Atomic<Int>(1000)
    }

    private let time = Time()

    private func store() throws -> AppCheckStore {
        let time = time
        return try AppCheckStore(path: ":memory:", clock: { Int64(time.seconds.load(ordering: .relaxed)) })
    }

    @Test func aChallengeIsForOneAppAndOneUse() throws {
        let store = try store()
        try store.add(challenge: [1], app: "a")
        #expect(try !store.use(challenge: [1], app: "b"))
        #expect(try store.use(challenge: [1], app: "a"))
        #expect(try !store.use(challenge: [1], app: "a"))
    }

    @Test func aChallengeExpires() throws {
        let store = try store()
        try store.add(challenge: [1], app: "a")
        try store.add(challenge: [2], app: "a")
        time.seconds.add(299, ordering: .relaxed)
        #expect(try store.use(challenge: [1], app: "a"))
        time.seconds.add(1, ordering: .relaxed)
        #expect(try !store.use(challenge: [2], app: "a"))
        #expect(try !store.removeExpired())
    }

    /// Challenges of a clock that was ahead for a while would take the place of others until that time.
    @Test func challengesOfAWrongTimeAreRemoved() throws {
        let store = try store()
        time.seconds.add(1_000_000, ordering: .relaxed)
        try store.add(challenge: [1], app: "a")
        time.seconds.subtract(1_000_000, ordering: .relaxed)
        try store.add(challenge: [2], app: "a")
        #expect(try !store.removeExpired())
        #expect(try !store.use(challenge: [1], app: "a"))
        #expect(try store.use(challenge: [2], app: "a"))
    }

    @Test func aCounterOnlyGrows() throws {
        let store = try store()
        try store.add(key: [4], artifact: [9], app: "a")
        #expect(try store.key(artifact: [9], app: "b") == nil)
        #expect(try store.key(artifact: [9], app: "a") == [4])
        #expect(try !store.advance(artifact: [9], to: 0))
        #expect(try store.advance(artifact: [9], to: 2))
        #expect(try !store.advance(artifact: [9], to: 2))
        #expect(try !store.advance(artifact: [9], to: 1))
        #expect(try store.advance(artifact: [9], to: .max))
    }

    @Test func aKeyThatIsNotUsedIsForgotten() throws {
        let store = try store()
        try store.add(key: [4], artifact: [9], app: "a")
        try store.add(key: [5], artifact: [8], app: "a")
        time.seconds.add(Int(AppCheckStore.keySeconds) - 1, ordering: .relaxed)
        #expect(try store.advance(artifact: [8], to: 1))
        time.seconds.add(1, ordering: .relaxed)
        #expect(try !store.removeExpired())
        #expect(try store.key(artifact: [9], app: "a") == nil)
        #expect(try store.key(artifact: [8], app: "a") == [5])
    }

    @Test func anAppKeepsTheKeysThatWereUsedLast() throws {
        let store = try store()
        for (app, keys) in [("a", 1...5), ("b", 6...7)] as [(String, ClosedRange<UInt8>)] {
            for key in keys {
                try store.add(key: [key], artifact: [key], app: app)
                time.seconds.add(1, ordering: .relaxed)
            }
        }
        #expect(try store.advance(artifact: [1], to: 1))
        #expect(try !store.removeExpired(keysPerAppMax: 3))
        #expect(try (1...5).filter { try store.key(artifact: [UInt8($0)], app: "a") != nil } == [1, 4, 5])
        #expect(try (6...7).filter { try store.key(artifact: [UInt8($0)], app: "b") != nil } == [6, 7])
    }

    @Test func debugTokensAreHashedAndGoWithTheirApp() throws {
        let store = try store()
        try store.putApp("a", name: "A")
        try store.addDebugToken("secret", id: "1", app: "a", name: "laptop")
        #expect(throws: (any Error).self) { try store.addDebugToken("secret", id: "2", app: "a", name: "again") }
        #expect(try store.debugHashes(app: "a") == [AppCheckStore.hash(Array("secret".utf8))])
        #expect(try store.debugHashes(app: "b").isEmpty)
        #expect(try store.removeApp("a"))
        #expect(try store.debugHashes(app: "a").isEmpty)
        #expect(try !store.hasApp("a"))
    }
}
