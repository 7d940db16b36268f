import HearthBytes
import Store

/// The engine's rows in the keyspace `meta`.
enum MetaKey {
    /// ``CommitMark``.
    static let commit = Array("engine.commit".utf8)
    /// The rules document.
    static let rules = Array("engine.rules".utf8)
    /// The last rules file that was put in force: ``RulesFile/mark``.
    static let rulesFile = Array("engine.rules.file".utf8)

    /// A setting made by an administrator.
    static func setting(_ name: String) -> [UInt8] { Array("engine.setting.\(name)".utf8) }

    /// The beginning of the keys of the rows of sessions (``DisconnectRows``), and the end of their range.
    static let disconnect = Array("engine.disconnect.".utf8)
    static let disconnectEnd = Array("engine.disconnect/".utf8)

    /// The row of a session with onDisconnect operations.
    static func disconnect(_ session: DisconnectSession) -> [UInt8] { disconnect + Array(session.id.utf8) }

    /// The beginning of the keys of the session's places.
    static func disconnectPlaces(_ session: DisconnectSession) -> [UInt8] { Array("engine.disconnectPlace.\(session.id).".utf8) }

    /// The row of a mark of ``WriteRequest/once``, with the time of its end.
    static func once(_ key: [UInt8]) -> [UInt8] { Array("engine.once.key.".utf8) + key }

    /// The beginning of the keys of the marks by their ends, and the end of the range of those before `milliseconds`.
    static let onceEnds = Array("engine.once.end.".utf8)
    static func onceEnds(before milliseconds: Int64) -> [UInt8] {
        onceEnds + bytes(UInt64(clamping: milliseconds)).reversed()
    }

    /// A number, little-endian.
    static func number(_ bytes: Span<UInt8>) -> UInt64 {
        var number: UInt64 = 0
        for index in bytes.indices.reversed() { number = number << 8 | UInt64(bytes[index]) }
        return number
    }

    static func bytes(_ number: UInt64) -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }
}

/// Identifies a committed state of a namespace: two numbers of 8 bytes, little-endian. Versions before wrote only the first.
struct CommitMark: Equatable, Sendable {
    /// The number of the last transaction.
    var number: UInt64 = 0
    /// The number of the transaction that stored the rules in force.
    var rules: UInt64 = 0
}

extension CommitMark {
    init(_ bytes: Span<UInt8>) {
        number = MetaKey.number(bytes.extracting(0..<min(8, bytes.count)))
        rules = MetaKey.number(bytes.extracting(min(8, bytes.count)..<min(16, bytes.count)))
    }

    var bytes: [UInt8] { MetaKey.bytes(number) + MetaKey.bytes(rules) }

    /// The mark in a store; that of an empty namespace if there is none.
    static func read(_ store: any ReadableStore) throws(StoreError) -> CommitMark {
        try store.get(MetaKey.commit, in: .meta) { CommitMark($0) } ?? CommitMark()
    }
}
