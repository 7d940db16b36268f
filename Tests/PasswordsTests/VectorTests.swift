import FuzzSupport
import HearthJSON
import Testing

@testable import Passwords

/// A hash that another program made, of `vectors.json`.
struct HashVector: Sendable, CustomTestStringConvertible {
    var password: String
    var hash: String
    var parameters: JSONValue

    var testDescription: String { "\(parameters["hashAlgorithm"]?.string ?? "own") \(password.prefix(10)) \(parameters)" }

    static func rows(_ name: String) -> [HashVector] {
        let file = try? FuzzCorpus.load("../PasswordsTests").lazy.compactMap { try? JSONValue(parsing: $0) }.first
        return (file?[name]?.array ?? []).compactMap { row in
            guard let password = row["password"]?.string, let hash = row["hash"]?.string else { return nil }
            return HashVector(password: password, hash: hash, parameters: row["parameters"] ?? .null)
        }
    }

    static let own = rows("own")
    static let imported = rows("imported")
}

/// Every hash that Python made is verified, and only with its password and its parameters.
@Suite struct VectorTests {
    @Test func theTableIsThere() {
        #expect(HashVector.own.count == 3)
        let names = Set(HashVector.imported.compactMap { $0.parameters["hashAlgorithm"]?.string })
        #expect(
            names == [
                "SCRYPT", "STANDARD_SCRYPT", "BCRYPT", "PBKDF2_SHA256", "PBKDF_SHA1", "HMAC_SHA512", "HMAC_SHA256", "HMAC_SHA1", "HMAC_MD5",
                "SHA512", "SHA256", "SHA1", "MD5",
            ])
    }

    @Test(arguments: HashVector.own)
    func own(_ row: HashVector) {
        let hasher = PasswordHasher()
        #expect(hasher.verify(row.password, StoredPassword(hash: row.hash)) == PasswordCheck(isRight: true))
        #expect(hasher.verify(row.password + "!", StoredPassword(hash: row.hash)) == .wrong)
    }

    @Test(arguments: HashVector.imported)
    func imported(_ row: HashVector) throws {
        let hash = try #require(ImportedHash(hash: row.hash, parameters: row.parameters))
        #expect(hash.matches(Array(row.password.utf8)))
        #expect(!hash.matches(Array(("!" + row.password).utf8)))
        #expect(!hash.matches([]))
    }

    /// A changed salt, key, number of rounds or order makes another hash.
    @Test(arguments: HashVector.imported)
    func parametersCount(_ row: HashVector) throws {
        let isBcrypt = row.parameters["hashAlgorithm"] == "BCRYPT"
        guard let fields = row.parameters.object else { return }
        let rounds = fields["rounds"]?.int ?? 0
        for name in ["salt", "signerKey", "saltSeparator", "memoryCost", "cpuMemCost", "parallelization", "blockSize", "rounds"] {
            guard let value = fields[name], !isBcrypt, name != "rounds" || rounds > 1 else { continue }
            var changed = fields
            if let number = value.int { changed[name] = .int(Int64(name == "cpuMemCost" ? 2 * number : number + 1)) }
            if let text = value.string { changed[name] = .string("AA" + text.dropFirst(2)) }
            if name == "saltSeparator" { changed[name] = "CA==" }
            let hash = try #require(ImportedHash(hash: row.hash, parameters: .object(changed)))
            #expect(!hash.matches(Array(row.password.utf8)), "\(name)")
        }
    }

    /// The example that Firebase publishes for its scrypt.
    @Test func publishedExample() throws {
        let parameters: JSONValue = [
            "hashAlgorithm": "SCRYPT", "rounds": 8, "memoryCost": 14, "saltSeparator": "Bw==", "salt": "42xEC+ixf3L2lw==",
            "signerKey": "jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==",
        ]
        let hash = "lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ=="
        #expect(try #require(ImportedHash(hash: hash, parameters: parameters)).matches(Array("user1password".utf8)))
    }
}
