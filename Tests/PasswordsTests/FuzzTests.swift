import FuzzSupport
import HearthJSON
import Testing

@testable import Passwords

/// The corpus of `Tests/Fuzz/Passwords`, and texts made of it by chance: a stored hash has one spelling, and an import whose parameters are accepted
/// costs no more than it may.
@Suite struct FuzzTests {
    private static let words = [
        "$", "scrypt", "ln=", "r=", "p=", ",", "=", "\"", "{", "}", ":", "-1", "1e9", "9223372036854775807", "null", "\"rounds\":", "\"memoryCost\":",
        "\"cpuMemCost\":", "\"salt\":", "BCRYPT", "ARGON2", "HMAC_", "SHA512", "MD5", "PBKDF2_SHA256", "STANDARD_SCRYPT", "JDJi",
    ]

    @Test func hashes() throws {
        let run = FuzzRun(try FuzzCorpus.load("Passwords/corpus"), words: Self.words, rounds: 5000)
        #expect(run.complaint(Self.complaint) == nil)
    }

    private static func complaint(_ text: [UInt8]) -> String? {
        let string = String(decoding: text, as: UTF8.self)
        if let own = ScryptHash(string) {
            if own.text != string { return "another spelling of \(own.text)" }
            if own.cost.memoryBytes > 160 << 20 { return "takes \(own.cost.memoryBytes) bytes" }
        }
        guard let row = try? JSONValue(parsing: text), let hash = row["hash"]?.string, let parameters = row["parameters"] else { return nil }
        guard let imported = ImportedHash(hash: hash, parameters: parameters) else { return nil }
        // Cheap ones are computed, too.
        let name = parameters["hashAlgorithm"]?.string ?? ""
        guard name.hasPrefix("HMAC") || name.hasPrefix("SHA") || name == "MD5" else { return nil }
        return imported.matches(Array("no password of the corpus".utf8)) ? "matches another password" : nil
    }
}
