/// A fast pseudo-random generator for choosing between two versions of a function. Not for secrets.
package struct TrafficDice {
    private var state = UInt64.random(in: .min ... .max)

    /// Dice with a random seed.
    package init() {}

    /// Chooses the version for the next call of a function whose calls may be split.
    package mutating func choose(_ function: RegisteredFunction) -> RegisteredFunction {
        guard let alternative = function.alternative, roll(below: function.alternativePercent) else { return function }
        return alternative
    }

    /// Returns true with a probability of `percent` in a hundred.
    mutating func roll(below percent: Int) -> Bool {
        // The generator is SplitMix64.
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        mixed ^= mixed >> 31
        return Int(mixed.multipliedFullWidth(by: 100).high) < percent
    }
}
