import HearthBytes

/// The cost of scrypt (RFC 7914 section 2).
public struct ScryptCost: Sendable, Equatable {
    /// The base-2 logarithm of N.
    public let logarithm: Int
    /// r.
    public let blockSize: Int
    /// p.
    public let parallelization: Int

    /// N = 2^15, r = 8, p = 1: 32 MiB, and about 60 ms of one processor.
    public static let standard = ScryptCost(unchecked: 15, 8, 1)

    /// The most memory of one derivation.
    static let memoryBytesMax = 128 << 20
    /// The most time, as the product N r p: four times that of N = 2^17, r = 8, p = 1.
    private static let workMax = 1 << 22

    /// A cost; nil outside the bounds: 128 MiB, and about two seconds.
    public init?(logarithm: Int, blockSize: Int, parallelization: Int) {
        guard 1...20 ~= logarithm, 1...32 ~= blockSize, 1...16 ~= parallelization else { return nil }
        self.init(unchecked: logarithm, blockSize, parallelization)
        guard memoryBytes <= Self.memoryBytesMax, (blockSize * parallelization) << logarithm <= Self.workMax else { return nil }
        // RFC 7914 section 2: N is less than 2^(128 r / 8).
        guard logarithm < 16 * blockSize else { return nil }
    }

    private init(unchecked logarithm: Int, _ blockSize: Int, _ parallelization: Int) {
        self.logarithm = logarithm
        self.blockSize = blockSize
        self.parallelization = parallelization
    }

    var memoryBytes: Int { 128 * blockSize * (parallelization + 1 << logarithm) }
}

/// A hash by scrypt as text: `$scrypt$ln=15,r=8,p=1$SALT$HASH`, the PHC string format. One spelling for each hash.
struct ScryptHash: Equatable {
    var cost: ScryptCost
    var salt: [UInt8]
    var hash: [UInt8]

    static let saltBytes = 16
    static let hashBytes = 32

    init(cost: ScryptCost, salt: [UInt8], hash: [UInt8]) {
        self.cost = cost
        self.salt = salt
        self.hash = hash
    }

    init?(_ text: String) {
        guard text.utf8.count <= 400 else { return nil }
        let parts = text.split(separator: "$", omittingEmptySubsequences: false)
        guard parts.count == 5, parts[0].isEmpty, parts[1] == "scrypt" else { return nil }
        let numbers = parts[2].split(separator: ",", omittingEmptySubsequences: false)
        guard numbers.count == 3, let logarithm = Self.number(numbers[0], "ln="), let blockSize = Self.number(numbers[1], "r="),
            let parallelization = Self.number(numbers[2], "p="),
            let cost = ScryptCost(logarithm: logarithm, blockSize: blockSize, parallelization: parallelization),
            let salt = PlainBase64.bytes(parts[3]), let hash = PlainBase64.bytes(parts[4]), 8...64 ~= salt.count, 16...64 ~= hash.count
        else { return nil }
        self.init(cost: cost, salt: salt, hash: hash)
    }

    var text: String {
        "$scrypt$ln=\(cost.logarithm),r=\(cost.blockSize),p=\(cost.parallelization)$\(PlainBase64.text(salt))$\(PlainBase64.text(hash))"
    }

    /// A decimal number of at most three digits in its shortest form.
    private static func number(_ text: Substring, _ prefix: String) -> Int? {
        guard text.hasPrefix(prefix) else { return nil }
        let digits = text.dropFirst(prefix.count).utf8
        guard 1...3 ~= digits.count, digits.first != UInt8(ascii: "0"), digits.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 })
        else { return nil }
        return digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }
}

/// Base64 in the spellings of hashes.
enum PlainBase64 {
    /// With the letters `+` and `/`, without padding.
    static func text(_ bytes: [UInt8]) -> String {
        let padded = Base64.text(bytes)
        return String(padded.prefix { $0 != "=" })
    }

    /// The bytes of a text with these letters, without padding.
    static func bytes(_ text: Substring) -> [UInt8]? {
        guard !text.utf8.contains(UInt8(ascii: "-")), !text.utf8.contains(UInt8(ascii: "_")) else { return nil }
        return anyBytes(String(text), isPadded: false)
    }

    /// The bytes of a text with the letters of either alphabet, padded or not.
    static func anyBytes(_ text: String, isPadded: Bool = true) -> [UInt8]? {
        var letters = Array(text.utf8)
        var padding = 0
        while isPadded, padding < 2, letters.last == UInt8(ascii: "=") {
            letters.removeLast()
            padding += 1
        }
        for index in letters.indices {
            switch letters[index] {
            case UInt8(ascii: "+"): letters[index] = UInt8(ascii: "-")
            case UInt8(ascii: "/"): letters[index] = UInt8(ascii: "_")
            default: break
            }
        }
        return Base64URL.bytes(letters[...])
    }
}
