import Glibc
import HearthJSON
import Synchronization
import Testing

@testable import Tokens

/// Keys with which the host signs.
@Suite struct KeyRingTests {
    private final class Folder {
        let path: String

        init() {
            var template = Array("/tmp/key-ring-XXXXXX".utf8CString)
            path = String(cString: mkdtemp(&template))
        }

        deinit {
            for name in ["ring.keys", "ring.keys.new"] { unlink("\(path)/\(name)") }
            rmdir(path)
        }
    }

    /// A clock that the test moves.
    private final class MovedClock: Sendable {
        let seconds = Atomic(1_800_000_000)
        var clock: TokenClock { TokenClock { self.seconds.load(ordering: .relaxed) } }
        func move(_ count: Int) { seconds.add(count, ordering: .relaxed) }
        var now: Int { seconds.load(ordering: .relaxed) }
    }

    private let folder = Folder()
    private let time = MovedClock()

    private func ring() -> KeyRing { KeyRing(file: "\(folder.path)/ring.keys", clock: time.clock) }

    private func token(_ ring: KeyRing) throws -> String {
        let claims: JSONValue = [
            "iss": "https://securetoken.google.com/demo", "aud": "demo", "sub": "ada", "iat": .int(Int64(time.now)),
            "exp": .int(Int64(time.now + 3600)),
        ]
        return try ring.sign(claims.serialized())
    }

    private func verifier(_ ring: KeyRing) -> TokenVerifier {
        TokenVerifier(rules: .idToken(project: "demo"), keys: KeySet(source: .ring(ring)), clock: time.clock)
    }

    private func keyID(_ token: String) throws -> String { try #require(CompactToken(Array(token.utf8)).keyID) }

    private func ids(_ ring: KeyRing) throws -> [String] {
        try JSONValue(parsing: ring.keySet())["keys"]?.array?.compactMap { $0["kid"]?.string } ?? []
    }

    @Test func tokensOfTheRingAreVerified() async throws {
        let ring = ring()
        let text = try token(ring)
        guard case .success(let verified) = await verifier(ring).verify(text) else { return #expect(Bool(false), "refused") }
        #expect(verified.subject == "ada")
        #expect(!verified.isUnsigned)
        var forged = text.split(separator: ".").map(String.init)
        forged[2] = (forged[2].hasPrefix("A") ? "B" : "A") + forged[2].dropFirst()
        #expect(await verifier(ring).verify(forged.joined(separator: ".")) == .failure(.signature))
    }

    @Test func theFileIsPrivateAndIsReadAgain() async throws {
        let text = try token(ring())
        var status = stat()
        #expect(stat("\(folder.path)/ring.keys", &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
        guard case .success = await verifier(ring()).verify(text) else { return #expect(Bool(false), "the key was not kept") }
    }

    @Test func verifyingMakesNoFile() async throws {
        let other = try token(ring())
        unlink("\(folder.path)/ring.keys")
        #expect(await verifier(ring()).verify(other) == .failure(.keyUnknown))
        #expect(access("\(folder.path)/ring.keys", F_OK) != 0)
    }

    @Test func documentsHaveTheSameKeys() throws {
        let ring = ring()
        try ring.open()
        let keys = try KeyDocument(parsing: ring.keySet())
        let certificates = try KeyDocument(parsing: ring.certificates())
        #expect(keys.problems.isEmpty && certificates.problems.isEmpty)
        #expect(keys.keys.mapValues(\.fingerprint) == certificates.keys.mapValues(\.fingerprint))
        #expect(try ring.certificates() == ring.certificates())
    }

    @Test func aNewKeyIsPublishedADayBeforeItSigns() async throws {
        let ring = ring()
        let first = try token(ring)
        #expect(try ids(ring).count == 1)
        time.move(13 * 86_400)
        let second = try token(ring)
        #expect(try keyID(second) == keyID(first))
        #expect(try ids(ring).count == 2)
        time.move(86_400 - 1)
        #expect(try keyID(token(ring)) == keyID(first))
        let last = try token(ring)
        time.move(1)
        let third = try token(ring)
        #expect(try keyID(third) != keyID(first))
        // Tokens of the retired key are good until they expire.
        guard case .success = await verifier(ring).verify(last) else { return #expect(Bool(false), "a token of the retired key was refused") }
        time.move(3600 + 21_600)
        _ = try token(ring)
        #expect(try ids(ring) == [keyID(third)])
        #expect(try ids(self.ring()) == [keyID(third)])
    }

    @Test func aClockThatIsSetBackStillSigns() throws {
        let ring = ring()
        let first = try token(ring)
        time.move(-30 * 86_400)
        #expect(try keyID(token(self.ring())) == keyID(first))
    }

    @Test func aRotationThatFailsKeepsTheOldKey() throws {
        let ring = ring()
        let first = try token(ring)
        #expect(mkdir("\(folder.path)/ring.keys.new", 0o700) == 0)
        defer { rmdir("\(folder.path)/ring.keys.new") }
        time.move(20 * 86_400)
        #expect(try keyID(token(ring)) == keyID(first))
        #expect(try ids(ring).count == 1)
    }

    @Test(arguments: ["{}", "{\"keys\":[]}", "no", "{\"keys\":[{\"signsFrom\":1,\"privateKey\":\"x\"}]}", "{\"keys\":[{}]}"])
    func brokenFilesAreRefused(_ contents: String) throws {
        let file = try #require(fopen("\(folder.path)/ring.keys", "w"))
        fputs(contents, file)
        fclose(file)
        #expect(throws: KeyRingError.self) { try ring().open() }
        #expect(throws: KeyRingError.self) { try token(ring()) }
    }

    @Test func unsignedTokensHaveThreeParts() throws {
        let text = try TokenSigner.unsigned.sign(Array("{}".utf8))
        #expect(text.hasSuffix("."))
        #expect(text.split(separator: ".", omittingEmptySubsequences: false).count == 3)
    }
}
