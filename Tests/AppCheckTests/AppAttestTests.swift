import EventLoop
import HearthBytes
import HearthJSON
import Logging
import Testing

@testable import AppCheck

/// Attestations of a fake Apple.
@Suite struct AppAttestTests {
    private static let challenge = [UInt8](0..<32)
    private static let artifact = [UInt8](32..<64)

    private func bytes(_ text: String) throws -> [UInt8] {
        try AppCheckBody(Array("{\"x\":\"\(text)\"}".utf8).span).bytes("x")
    }

    private func provider(
        team: String = "TEAM123456", root: String = AttestationFixture.root, allowsDevelopment: Bool = false
    ) throws -> AppAttestProvider {
        let settings = AppAttestSettings(teamID: team, bundleID: "com.example.app", root: root, allowsDevelopment: allowsDevelopment)
        let storage = try AppCheckStorage(path: ":memory:", isSuspended: true, clock: { 0 }, log: Logger(label: "test"))
        return AppAttestProvider(settings: settings, store: storage)
    }

    private func key(
        _ provider: AppAttestProvider, _ statement: String = AttestationFixture.statement, id: String = AttestationFixture.keyID,
        challenge: [UInt8] = challenge
    ) async throws -> [UInt8]? {
        defer { provider.store.stop() }
        return await provider.verifiedKey(try bytes(statement), keyID: try bytes(id), challenge: challenge)
    }

    @Test func aGoodStatementGivesTheKey() async throws {
        #expect(try await key(provider())?.count == 65)
    }

    @Test func anythingElseIsRefused() async throws {
        #expect(try await key(provider(root: AttestationFixture.otherRoot)) == nil)
        #expect(try await key(provider(team: "OTHER12345")) == nil)
        #expect(try await key(provider(), challenge: [1, 2, 3]) == nil)
        #expect(try await key(provider(), id: AttestationFixture.developmentKeyID) == nil)
        #expect(try await key(provider(), AttestationFixture.foreignStatement, id: AttestationFixture.foreignKeyID) == nil)
        #expect(try await key(provider(), AttestationFixture.usedStatement, id: AttestationFixture.usedKeyID) == nil)
    }

    @Test func keysOfDevelopmentNeedTheirSetting() async throws {
        let (statement, id) = (AttestationFixture.developmentStatement, AttestationFixture.developmentKeyID)
        #expect(try await key(provider(), statement, id: id) == nil)
        #expect(try await key(provider(allowsDevelopment: true), statement, id: id) != nil)
    }

    @Test func eachChangedByteIsRefused() async throws {
        let provider = try provider()
        defer { provider.store.stop() }
        let (statement, id) = (try bytes(AttestationFixture.statement), try bytes(AttestationFixture.keyID))
        let good = await provider.verifiedKey(statement, keyID: id, challenge: Self.challenge)
        for index in stride(from: 0, to: statement.count, by: 7) {
            var changed = statement
            changed[index] ^= 1
            let key = await provider.verifiedKey(changed, keyID: id, challenge: Self.challenge)
            // Some bytes are not signed by anyone: the receipt, and the names of the form.
            #expect(key == nil || key == good)
        }
    }

    @Test func anAssertionGivesItsCounter() async throws {
        let provider = try provider()
        defer { provider.store.stop() }
        let key = try #require(await provider.verifiedKey(
            try bytes(AttestationFixture.statement), keyID: try bytes(AttestationFixture.keyID), challenge: Self.challenge))
        let assertion = try bytes(AttestationFixture.assertion)
        #expect(await provider.verifiedCounter(assertion, key: key, signed: Self.artifact + Self.challenge) == 7)
        #expect(await provider.verifiedCounter(assertion, key: key, signed: Self.challenge + Self.artifact) == nil)
        #expect(await provider.verifiedCounter([], key: key, signed: Self.artifact + Self.challenge) == nil)
    }
}
