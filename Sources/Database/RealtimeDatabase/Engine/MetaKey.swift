import HearthBytes

/// The engine's rows in the keyspace `meta`.
enum MetaKey {
    /// The number of the last transaction, little-endian.
    static let commit = Array("engine.commit".utf8)
    /// The rules document.
    static let rules = Array("engine.rules".utf8)
    /// The last rules file that was put in force: ``RulesFile/mark``.
    static let rulesFile = Array("engine.rules.file".utf8)

    /// A setting made by an administrator.
    static func setting(_ name: String) -> [UInt8] { Array("engine.setting.\(name)".utf8) }

    static func number(_ bytes: Span<UInt8>) -> UInt64 {
        var number: UInt64 = 0
        for index in bytes.indices.reversed() { number = number << 8 | UInt64(bytes[index]) }
        return number
    }

    static func bytes(_ number: UInt64) -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }
}
