import CArgon2
import HearthJSON

/// The parameters of an imported hash by Argon2, as `argon2Parameters` of an import has them.
struct ArgonCost: Sendable, Equatable {
    /// The numbers that the library and RFC 9106 use.
    private enum Kind: UInt32 {
        case d = 0, i, id
    }

    private let kind: Kind
    private let version: UInt32
    private let iterations: Int
    private let memoryKiB: Int
    private let parallelism: Int
    private let associatedData: [UInt8]
    /// The length of the hash; nil if the parameters do not say it.
    let hashBytes: Int?

    /// The most memory of one derivation: 128 MiB, as for scrypt.
    private static let memoryKiBMax = 128 << 10
    /// The most time, as the product of memory and iterations: eight passes over the most memory, about two seconds.
    private static let workMax = 8 * memoryKiBMax
    private static let iterationsMax = 10_000
    private static let parallelismMax = 16
    private static let associatedDataLettersMax = 1024

    /// Reads the parameters; nil if one is missing, invalid or outside the bounds.
    init?(_ value: JSONValue?) {
        guard let fields = value?.object else { return nil }
        func number(_ name: String) -> Int? { fields[name]?.int ?? fields[name]?.string.flatMap { Int($0) } }
        switch fields["hashType"]?.string {
        case "ARGON2_D": kind = .d
        case "ARGON2_I": kind = .i
        case "ARGON2_ID": kind = .id
        default: return nil
        }
        switch fields["version"]?.string {
        case "VERSION_10": version = 0x10
        case "VERSION_13", "VERSION_UNSPECIFIED", nil: version = 0x13
        default: return nil
        }
        guard let iterations = number("iterations"), 1...Self.iterationsMax ~= iterations, let parallelism = number("parallelism"),
            1...Self.parallelismMax ~= parallelism, let memory = number("memoryCostKib"), 8 * parallelism...Self.memoryKiBMax ~= memory,
            iterations * memory <= Self.workMax
        else { return nil }
        (self.iterations, self.parallelism, memoryKiB) = (iterations, parallelism, memory)
        let text = fields["associatedData"]?.string ?? ""
        guard text.utf8.count <= Self.associatedDataLettersMax, let data = PlainBase64.anyBytes(text) else { return nil }
        associatedData = data
        hashBytes = number("hashLengthBytes")
        if fields["hashLengthBytes"] != nil, hashBytes == nil { return nil }
    }

    /// The hash of a password; nil without memory, or with a salt of less than 8 bytes.
    func hash(_ password: [UInt8], salt: [UInt8], count: Int) -> [UInt8]? {
        var made = [UInt8](repeating: 0, count: count)
        let isMade = associatedData.withUnsafeBufferPointer { data in
            var parameters = hearth_argon2_parameters(
                type: kind.rawValue, version: version, iterations: UInt32(iterations), memory_kib: UInt32(memoryKiB),
                parallelism: UInt32(parallelism), associated_data: data.isEmpty ? nil : data.baseAddress,
                associated_data_length: UInt32(data.count))
            return hearth_argon2(&parameters, password, UInt32(password.count), salt, UInt32(salt.count), &made, UInt32(count))
        }
        return isMade ? made : nil
    }
}
