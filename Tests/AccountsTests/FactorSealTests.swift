import Testing

@testable import Accounts

/// The encryption of secrets of authenticator programs.
@Suite struct FactorSealTests {
    private let seal = FactorSeal(key: [UInt8](repeating: 7, count: FactorSeal.keyBytes))
    private let secret = [UInt8](0..<20)

    @Test func itOpensWhatItHasSealed() {
        let text = seal.sealed(secret, "place")
        #expect(FactorSeal.isSealed(text) && seal.opened(text, "place") == secret)
        #expect(seal.sealed(secret, "place") != text, "each time with another nonce")
        #expect(FactorSeal(key: [UInt8](repeating: 7, count: FactorSeal.keyBytes)).opened(text, "place") == secret)
    }

    @Test func nothingElseIsOpened() {
        let text = seal.sealed(secret, "place")
        #expect(seal.opened(text, "other place") == nil)
        #expect(FactorSeal().opened(text, "place") == nil && FactorSeal().id != seal.id)
        for changed in [String(text.dropLast()), text + "A", "g1.", "g1.AAAA", "", "AAAA", "g2." + text.dropFirst(3)] {
            #expect(seal.opened(changed, "place") == nil, "\(changed)")
        }
    }
}
