import Testing

@testable import AppCheck

@Suite struct AddressLimitsTests {
    @Test func anAddressHasALimitOfItsOwnUntilItsTimeEnds() {
        let limits = AddressLimits.ofChallenges()
        for _ in 0..<500 { #expect(limits.count("1.2.3.4", now: 1000)) }
        #expect(!limits.count("1.2.3.4", now: 1299))
        #expect(limits.count("1.2.3.5", now: 1299))
        #expect(limits.count("1.2.3.4", now: 1300))
    }

    @Test func keysHaveALimitOfAnHour() {
        let limits = AddressLimits.ofKeys()
        for _ in 0..<200 { #expect(limits.count("1.2.3.4", now: 0)) }
        #expect(!limits.count("1.2.3.4", now: 3599))
        #expect(limits.count("1.2.3.4", now: 3600))
    }

    @Test func theTableIsBounded() {
        let limits = AddressLimits.ofChallenges()
        for number in 0..<AddressLimits.addressesMax + 10 { #expect(limits.count("\(number)", now: 0)) }
        #expect(limits.addresses == AddressLimits.addressesMax)
        // Those that are counted stay so; those whose time has ended make room.
        for _ in 1..<500 { #expect(limits.count("0", now: 1)) }
        #expect(!limits.count("0", now: 1))
        #expect(limits.count("late", now: 400))
        #expect(limits.addresses == 1)
    }

    @Test func aProofIsForThePlatformOfItsApp() throws {
        try ExchangeMethod.playIntegrity.platform?.require("1:2:android:3")
        try ExchangeMethod.attestation.platform?.require("1:2:ios:3")
        #expect(ExchangeMethod.debug.platform == nil && ExchangeMethod.custom.platform == nil)
        for app in ["1:2:ios:3", "1:2:web:3", "1:2:android", "android"] {
            #expect(throws: AppCheckError.self) { try ExchangeMethod.playIntegrity.platform?.require(app) }
        }
    }

    /// A clock that was ahead for a while locks no address out.
    @Test func aWindowOfAWrongTimeDoesNotCount() {
        let limits = AddressLimits(perAddress: 5, seconds: 300)
        for _ in 0..<5 { #expect(limits.count("1.2.3.4", now: 1_000_000)) }
        #expect(!limits.count("1.2.3.4", now: 1_000_000))
        for _ in 0..<5 { #expect(limits.count("1.2.3.4", now: 1000)) }
        #expect(!limits.count("1.2.3.4", now: 1000))
    }
}
