import FuzzSupport
import Testing

@testable import AppCheck

/// CBOR, as attestations use it.
@Suite struct CBORTests {
    @Test func valuesAreRead() {
        #expect(CBOR([0x17]) == .integer(23))
        #expect(CBOR([0x19, 0x01, 0x00]) == .integer(256))
        #expect(CBOR([0x20]) == .integer(-1))
        #expect(CBOR([0x42, 1, 2]) == .bytes([1, 2]))
        #expect(CBOR([0x61, 0x61]) == .text("a"))
        #expect(CBOR([0x82, 0x01, 0x02]) == .array([.integer(1), .integer(2)]))
        #expect(CBOR([0xA1, 0x61, 0x61, 0x01]) == .map(["a": .integer(1)]))
        #expect(CBOR([0xF6]) == .other)
    }

    @Test(arguments: [
        [], [0x18], [0x42, 1], [0x61, 0xFF], [0x82, 0x01], [0x5F, 0x41, 0x01, 0xFF], [0xC0, 0x01], [0xFB, 0, 0, 0, 0, 0, 0, 0, 0], [0x01, 0x01],
        [0xA2, 0x61, 0x61, 0x01, 0x61, 0x61, 0x02], [0xA1, 0x01, 0x01], [0x9B, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
        [0x5B, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], [0x1B, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], [0x1C],
    ] as [[UInt8]])
    func everythingElseIsRefused(_ bytes: [UInt8]) { #expect(CBOR(bytes) == nil) }

    @Test func deepValuesAreRefused() {
        #expect(CBOR([UInt8](repeating: 0x81, count: 7) + [0x01]) != nil)
        #expect(CBOR([UInt8](repeating: 0x81, count: 8) + [0x01]) == nil)
    }

    @Test func textsByChance() throws {
        let run = FuzzRun(try FuzzCorpus.load("CBOR/corpus"), words: ["fmt", "authData", "x5c", "attStmt", "signature"], rounds: 20_000)
        let complaint = run.complaint { bytes, _ in CBOR(bytes) != nil && CBOR(bytes + [0]) != nil ? "a byte behind the value is accepted" : nil }
        #expect(complaint == nil, "\(complaint ?? "")")
        let data = run.complaint { bytes, _ in
            guard let parts = AuthenticatorData(bytes) else {
                return bytes.count < 37 || bytes.count >= 37 && bytes[32] & 0x40 != 0 ? nil : "refused"
            }
            return parts.credentialID.count <= bytes.count ? nil : "too long an id"
        }
        #expect(data == nil, "\(data ?? "")")
    }
}
