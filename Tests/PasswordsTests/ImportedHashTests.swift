import HearthJSON
import Testing

@testable import Passwords

/// Imports that are refused: nothing that they hold may match a password or cost more than it should.
@Suite struct ImportedHashTests {
    private static let digest = String(repeating: "A", count: 43)
    private static let bcrypt = "JDJiJDA0JGFiY2RlZmdoaWprbG1ub3BxcnN0dXV4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4"

    @Test(arguments: [
        [:], ["hashAlgorithm": "ARGON2"], ["hashAlgorithm": "sha256"], ["hashAlgorithm": 1], ["hashAlgorithm": "HMAC_SHA384", "signerKey": "AAAA"],
        ["hashAlgorithm": "HMAC_SHA256"], ["hashAlgorithm": "HMAC_SHA256", "signerKey": ""], ["hashAlgorithm": "HMAC_SHA256", "signerKey": "A"],
        ["hashAlgorithm": "SHA256", "rounds": 8193], ["hashAlgorithm": "SHA256", "rounds": -1], ["hashAlgorithm": "SHA256", "rounds": "x"],
        ["hashAlgorithm": "SHA256", "passwordHashOrder": "SIDEWAYS"], ["hashAlgorithm": "SHA256", "passwordHashOrder": 1],
        ["hashAlgorithm": "SHA256", "salt": "*"], ["hashAlgorithm": "SHA256", "salt": 5], ["hashAlgorithm": "SHA1"], ["hashAlgorithm": "SHA512"],
        ["hashAlgorithm": "PBKDF2_SHA256"], ["hashAlgorithm": "PBKDF2_SHA256", "rounds": 1_000_001],
        ["hashAlgorithm": "STANDARD_SCRYPT", "cpuMemCost": 1000, "blockSize": 8, "parallelization": 1],
        ["hashAlgorithm": "STANDARD_SCRYPT", "cpuMemCost": 1, "blockSize": 8, "parallelization": 1],
        ["hashAlgorithm": "STANDARD_SCRYPT", "cpuMemCost": 1_048_576, "blockSize": 8, "parallelization": 1],
        ["hashAlgorithm": "STANDARD_SCRYPT", "cpuMemCost": -9_223_372_036_854_775_808, "blockSize": 8, "parallelization": 1],
        ["hashAlgorithm": "STANDARD_SCRYPT", "cpuMemCost": 1024, "blockSize": 0, "parallelization": 1],
        ["hashAlgorithm": "STANDARD_SCRYPT", "cpuMemCost": 1024, "blockSize": 8, "parallelization": 1_000_000],
        ["hashAlgorithm": "STANDARD_SCRYPT", "cpuMemCost": 1024, "blockSize": 8, "parallelization": 1, "dkLen": 64],
        ["hashAlgorithm": "SCRYPT", "rounds": 8, "memoryCost": 14, "saltSeparator": "Bw=="],
        ["hashAlgorithm": "SCRYPT", "rounds": 8, "memoryCost": 60, "signerKey": "\(digest)"],
        ["hashAlgorithm": "SCRYPT", "rounds": 8, "memoryCost": 14, "signerKey": "\(digest)A"],
        ["hashAlgorithm": "BCRYPT"],
    ] as [JSONValue])
    func invalid(_ parameters: JSONValue) {
        #expect(ImportedHash(hash: Self.digest, parameters: parameters) == nil)
        #expect(ImportedHash(hash: "", parameters: parameters) == nil)
    }

    @Test func lengths() {
        #expect(ImportedHash(hash: Self.digest, parameters: ["hashAlgorithm": "SHA256"]) != nil)
        #expect(ImportedHash(hash: Self.digest, parameters: ["hashAlgorithm": "SHA256", "rounds": "8192"]) != nil)
        #expect(ImportedHash(hash: String(repeating: "A", count: 5000), parameters: ["hashAlgorithm": "SHA256"]) == nil)
        for name in ["SHA256", "PBKDF2_SHA256", "BCRYPT", "STANDARD_SCRYPT", "SCRYPT", "HMAC_MD5"] {
            let parameters: JSONValue = [
                "hashAlgorithm": .string(name), "rounds": 1, "signerKey": "", "cpuMemCost": 16, "blockSize": 1, "parallelization": 1, "memoryCost": 4,
            ]
            #expect(ImportedHash(hash: "", parameters: parameters) == nil)
        }
    }

    /// Only bcrypt's own forms reach the library, which knows many others.
    @Test func bcryptForms() throws {
        func read(_ text: String) -> ImportedHash? {
            ImportedHash(hash: PlainBase64.text(Array(text.utf8)), parameters: ["hashAlgorithm": "BCRYPT"])
        }
        let rest = String(repeating: "x", count: 53)
        #expect(read("$2b$04$" + rest) != nil)
        for begin in ["$2b$03$", "$2b$16$", "$2b$31$", "$2x$04$", "$6b$04$", "$2b$4$x", "$2b$-4$", "$2b$04."] { #expect(read(begin + rest) == nil) }
        #expect(read("$2b$04$" + rest + "x") == nil)
        #expect(read("$2b$04$" + rest.dropLast() + "\0") == nil)
        #expect(read("$2b$04$" + rest.dropLast() + ":") == nil)
    }

    /// A zero does not end a password.
    @Test func bcryptTakesNoZero() throws {
        let row = try #require(HashVector.imported.first { $0.parameters["hashAlgorithm"] == "BCRYPT" })
        let hash = try #require(ImportedHash(hash: row.hash, parameters: row.parameters))
        #expect(hash.matches(Array(row.password.utf8)))
        #expect(!hash.matches(Array(row.password.utf8) + [0, 65]))
        #expect(!hash.matches(Array(row.password.utf8) + [0]))
    }
}
