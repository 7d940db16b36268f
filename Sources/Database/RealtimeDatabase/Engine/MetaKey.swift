import HearthBytes

/// The rows of the keyspace `meta` that are the engine's own.
enum MetaKey {
    /// The number of the last transaction, little-endian.
    static let commit = Array("engine.commit".utf8)
    /// The rules document.
    static let rules = Array("engine.rules".utf8)
    /// Which rules file was put in force last: ``RulesFile/mark``.
    static let rulesFile = Array("engine.rules.file".utf8)

    /// A setting that an administrator made.
    static func setting(_ name: String) -> [UInt8] { Array("engine.setting.\(name)".utf8) }

    static func number(_ bytes: Span<UInt8>) -> UInt64 {
        var number: UInt64 = 0
        for index in bytes.indices.reversed() { number = number << 8 | UInt64(bytes[index]) }
        return number
    }

    static func bytes(_ number: UInt64) -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }
}
