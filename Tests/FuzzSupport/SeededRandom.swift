/// The same numbers for the same seed, everywhere (SplitMix64, Steele, Lea and Flood 2014).
public struct SeededRandom: RandomNumberGenerator, Sendable {
    private var state: UInt64

    public init(seed: UInt64) { state = seed }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A number from 0 up to `bound`; 0 where there is none below it.
    public mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(max(bound, 1))) }

    /// One of `choices`, which are not empty.
    public mutating func pick<T>(_ choices: [T]) -> T { choices[below(choices.count)] }

    /// The bytes in pieces as a network could deliver them: of one byte each, short, or long.
    public mutating func pieces(of bytes: [UInt8]) -> [[UInt8]] {
        let longest = pick([1, 3, 20, 200])
        var pieces: [[UInt8]] = []
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count, start + 1 + below(longest))
            pieces.append(Array(bytes[start..<end]))
            start = end
        }
        return pieces
    }
}
