/// Generates the keys of list items (spec database 4): 20 characters that sort by time of creation.
///
/// Eight characters are the milliseconds since 1970 in base64, twelve are 72 random bits. The keys of a generator always increase: within
/// one millisecond, or when the clock goes back, the random part is incremented.
public struct PushID: Sendable {
    private static let alphabet: InlineArray<64, UInt8> = {
        var letters = InlineArray<64, UInt8>(repeating: 0)
        for (index, letter) in "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz".utf8.enumerated() {
            letters[index] = letter
        }
        return letters
    }()
    private static let randomMax: UInt128 = 1 << 72 - 1

    private var time: Int64 = -1
    private var random: UInt128 = 0

    /// A new generator, independent of others.
    public init() {}

    /// The next key at `now`, in milliseconds since 1970.
    public mutating func next(now: Int64) -> String {
        var generator = SystemRandomNumberGenerator()
        return next(now: now, using: &generator)
    }

    /// The next key at `now`, with random bits from `generator`.
    public mutating func next(now: Int64, using generator: inout some RandomNumberGenerator) -> String {
        if now > time {
            time = now
            random = UInt128(generator.next() as UInt64) << 64 & Self.randomMax | UInt128(generator.next() as UInt64)
        } else if random < Self.randomMax {
            random += 1
        } else {
            time += 1
            random = 0
        }
        return Self.text(time: UInt64(time) & 0xFFFF_FFFF_FFFF, random: random)
    }

    private static func text(time: UInt64, random: UInt128) -> String {
        String(unsafeUninitializedCapacity: 20) { target in
            for index in 0..<8 { target[index] = letter(UInt128(time) >> UInt128(42 - 6 * index)) }
            for index in 0..<12 { target[8 + index] = letter(random >> UInt128(66 - 6 * index)) }
            return 20
        }
    }

    private static func letter(_ bits: UInt128) -> UInt8 { alphabet[Int(truncatingIfNeeded: bits & 0x3F)] }
}
