import HearthJSON
import Testing

@testable import Passwords

@Suite struct PasswordHasherTests {
    private static let quick = ScryptCost(logarithm: 4, blockSize: 8, parallelization: 1)
    private let hasher = PasswordHasher(cost: Self.quick ?? .standard)

    @Test func aHashIsVerified() throws {
        let hash = try hasher.hash("correct horse")
        #expect(hash.hasPrefix("$scrypt$ln=4,r=8,p=1$"))
        #expect(hasher.verify("correct horse", StoredPassword(hash: hash)) == PasswordCheck(isRight: true))
        #expect(hasher.verify("correct hors", StoredPassword(hash: hash)) == .wrong)
        #expect(hasher.verify("", StoredPassword(hash: hash)) == .wrong)
        #expect(try hasher.hash("correct horse") != hash)
    }

    @Test func standardCost() throws {
        #expect(try PasswordHasher().hash("a").hasPrefix("$scrypt$ln=15,r=8,p=1$"))
    }

    @Test func anOldHashIsReplaced() throws {
        let old = StoredPassword(hash: try hasher.hash("secret"))
        let today = PasswordHasher(cost: try #require(ScryptCost(logarithm: 5, blockSize: 8, parallelization: 1)))
        #expect(today.needsUpgrade(old))
        #expect(today.verify("wrong", old) == .wrong)
        let check = today.verify("secret", old)
        let better = StoredPassword(hash: try #require(check.better))
        #expect(check.isRight)
        #expect(!today.needsUpgrade(better))
        #expect(today.verify("secret", better) == PasswordCheck(isRight: true))
    }

    @Test func anImportedHashIsReplaced() throws {
        let row = try #require(HashVector.imported.first { $0.parameters["hashAlgorithm"] == "HMAC_SHA256" })
        let stored = StoredPassword(hash: row.hash, imported: row.parameters)
        #expect(hasher.needsUpgrade(stored))
        let check = hasher.verify(row.password, stored)
        #expect(check.isRight)
        #expect(hasher.verify(row.password, StoredPassword(hash: try #require(check.better))) == PasswordCheck(isRight: true))
        #expect(hasher.verify("wrong", stored) == .wrong)
    }

    /// Without its parameters an imported hash is no password, and parameters make none of our own hash.
    @Test func formsAreNotConfused() throws {
        let row = try #require(HashVector.imported.first)
        #expect(hasher.verify(row.password, StoredPassword(hash: row.hash)) == .wrong)
        let own = try hasher.hash("secret")
        #expect(hasher.verify("secret", StoredPassword(hash: own, imported: ["hashAlgorithm": "SHA256"])) == .wrong)
        #expect(hasher.verify(own, StoredPassword(hash: own)) == .wrong)
    }

    @Test(arguments: ["", "!", "$scrypt$", "secret", "fakeHash:salt=a:password=secret", "$2b$04$abcdefghijklmnopqrstuu"])
    func otherTextsMatchNothing(_ text: String) {
        #expect(hasher.verify("secret", StoredPassword(hash: text)) == .wrong)
        #expect(hasher.verify("", StoredPassword(hash: text)) == .wrong)
    }

    @Test func longPasswordsAreRefused() throws {
        let longest = String(repeating: "a", count: PasswordHasher.passwordBytesMax)
        let hash = try hasher.hash(longest)
        #expect(hasher.verify(longest, StoredPassword(hash: hash)).isRight)
        #expect(throws: PasswordFailure.tooLong) { try hasher.hash(longest + "a") }
        #expect(hasher.verify(longest + "a", StoredPassword(hash: hash)) == .wrong)
    }

    /// An unknown user costs a derivation like a known one; so does a user whose imported hash is cheap.
    @Test func unknownUsersTakeAsLong() throws {
        let hasher = PasswordHasher()
        let known = StoredPassword(hash: try hasher.hash("secret"))
        let row = try #require(HashVector.imported.first { $0.parameters["hashAlgorithm"] == "MD5" })
        let stored = [known, nil, StoredPassword(hash: row.hash, imported: row.parameters), StoredPassword(hash: "!")]
        let clock = ContinuousClock()
        var least = [Duration](repeating: .seconds(60), count: stored.count)
        for _ in 0..<4 {
            for (index, password) in stored.enumerated() {
                least[index] = min(least[index], clock.measure { #expect(hasher.verify("wrong", password) == .wrong) })
            }
        }
        for time in least { #expect(time > least[0] / 2 && time < least[0] * 2, "\(least)") }
    }
}

@Suite struct ScryptHashTests {
    private static let salt = "AAAAAAAAAAAAAAAAAAAAAA"
    private static let hash = "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc"

    @Test func oneSpelling() throws {
        let text = "$scrypt$ln=15,r=8,p=1$\(Self.salt)$\(Self.hash)"
        let read = try #require(ScryptHash(text))
        #expect(read.cost == .standard)
        #expect(read.hash == [UInt8](repeating: 7, count: 32))
        #expect(read.text == text)
    }

    @Test(arguments: [
        "ln=0,r=8,p=1", "ln=015,r=8,p=1", "ln=15,r=8", "ln=15,r=8,p=1,", "r=8,ln=15,p=1", "ln=+5,r=8,p=1", "ln=21,r=8,p=1", "ln=18,r=8,p=1",
        "ln=15,r=33,p=1", "ln=15,r=8,p=17", "ln=999,r=999,p=999", "ln=9999999999999999999999,r=8,p=1", "ln=17,r=8,p=5", "ln=16,r=1,p=1",
        "ln=１5,r=8,p=1", " ln=15,r=8,p=1",
    ])
    func parametersAreBounded(_ parameters: String) {
        #expect(ScryptHash("$scrypt$\(parameters)$\(Self.salt)$\(Self.hash)") == nil)
    }

    @Test(arguments: [
        "\(salt)=$\(hash)", "\(salt)$\(hash)=", "\(salt)$\(hash)$", "$\(hash)", "\(salt)$", "\(salt)", "AAAA$\(hash)", "\(salt)$AAAA",
        "AAAAAAAAAAAAAAAAAAAAAB$\(hash)", "____AAAAAAAAAAAAAAAAAA$\(hash)",
    ])
    func partsAreStrict(_ parts: String) {
        #expect(ScryptHash("$scrypt$ln=15,r=8,p=1$\(parts)") == nil)
    }
}
