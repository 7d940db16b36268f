import HearthJSON
import Testing

@testable import Passwords

/// Argon2: the tests of the reference implementation, and bounds.
@Suite struct ArgonTests {
    private static func parameters(_ type: String, _ changes: [String: JSONValue] = [:]) -> JSONValue {
        var value: JSONValue = ["hashType": .string(type), "iterations": 2, "memoryCostKib": 65_536, "parallelism": 1, "hashLengthBytes": 32]
        for (name, change) in changes { value[name] = change.isNull ? Optional.none : change }
        return value
    }

    private static func hexadecimal(_ bytes: [UInt8]?) -> String {
        (bytes ?? []).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    @Test(arguments: [
        ("ARGON2_I", "VERSION_13", "c1628832147d9720c5bd1cfd61367078729f6dfb6f8fea9ff98158e0d7816ed0"),
        ("ARGON2_ID", "VERSION_13", "09316115d5cf24ed5a15a31a3ba326e5cf32edc24702987c02b6566f61913cf7"),
        ("ARGON2_I", "VERSION_10", "f6c4db4a54e2a370627aff3db6176b94a2a209a62c8e36152711802f7b30c694"),
    ])
    func vectors(type: String, version: String, hash: String) throws {
        let cost = try #require(ArgonCost(Self.parameters(type, ["version": .string(version)])))
        #expect(Self.hexadecimal(cost.hash(Array("password".utf8), salt: Array("somesalt".utf8), count: 32)) == hash)
        #expect(cost.hash(Array("password".utf8), salt: Array("short".utf8), count: 32) == nil)
    }

    @Test func typesAndDataDiffer() throws {
        let small: [String: JSONValue] = ["memoryCostKib": 64]
        var seen: Set<[UInt8]> = []
        for parameters in [
            Self.parameters("ARGON2_D", small), Self.parameters("ARGON2_I", small), Self.parameters("ARGON2_ID", small),
            Self.parameters("ARGON2_ID", ["memoryCostKib": 64, "associatedData": "AAAA"]), Self.parameters("ARGON2_ID", ["memoryCostKib": 72]),
        ] {
            let cost = try #require(ArgonCost(parameters))
            let hash = try #require(cost.hash([], salt: [UInt8](repeating: 1, count: 8), count: 16))
            #expect(seen.insert(hash).inserted)
        }
    }

    @Test(arguments: [
        ["hashType": .null], ["hashType": "ARGON2"], ["version": "VERSION_12"], ["iterations": 0], ["iterations": 10_001], ["iterations": .null],
        ["iterations": -1], ["parallelism": 0], ["parallelism": 17], ["memoryCostKib": 7], ["memoryCostKib": 131_073],
        ["memoryCostKib": 131_072, "iterations": 9], ["memoryCostKib": 9_223_372_036_854_775_807], ["memoryCostKib": 15, "parallelism": 2],
        ["associatedData": "*"], ["hashLengthBytes": "x"],
    ] as [[String: JSONValue]])
    func outsideTheBounds(changes: [String: JSONValue]) {
        #expect(ArgonCost(Self.parameters("ARGON2_ID", changes)) == nil)
    }

    @Test func atTheBounds() {
        #expect(ArgonCost(Self.parameters("ARGON2_ID", ["memoryCostKib": 131_072, "iterations": 8])) != nil)
        #expect(ArgonCost(Self.parameters("ARGON2_ID", ["memoryCostKib": "8", "iterations": "10000"])) != nil)
        #expect(ArgonCost(nil) == nil && ArgonCost(["hashType": 1]) == nil)
    }
}
