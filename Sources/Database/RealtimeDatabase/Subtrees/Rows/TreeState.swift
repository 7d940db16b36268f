import HearthBytes
import Store

/// The data that is needed to read rows: the dead ranges and the indexes.
///
/// Stored in the keyspace `meta`, in the same transactions as the rows. Belongs to one thread. A writer changes its own state; those of
/// snapshots never change.
final class TreeState {
    /// Incremented by each change of the state, so that readers know whether they have to read it again.
    var version: UInt64 = 0
    /// Dead rows of the tree.
    var deadRows = DeadRanges()
    /// Dead entries of indexes.
    var deadEntries = DeadRanges()
    var indexes = IndexTable()
    /// Whether any node has or had a priority. If not, nobody has to search for priorities.
    var hasPriorities = false

    init() {}

    init(_ store: any ReadableStore) throws(StoreError) {
        version = try Self.version(in: store)
        guard version > 0 else { return }
        try store.scan(.meta, from: StateKey.prefix, to: StateKey.end, reversed: false) { key, value in
            switch StateKey(key) {
            case .deadRange(.tree, let lower): deadRows.append(KeyRange(lower: lower, upper: value.array()))
            case .deadRange(_, let lower): deadEntries.append(KeyRange(lower: lower, upper: value.array()))
            case .index(let id): if let index = TreeIndex(id: id, record: value) { indexes.add(index) }
            case .indexCount: indexes.lastID = UInt32(truncatingIfNeeded: StateKey.number(value))
            case .hasPriorities: hasPriorities = true
            case .version, nil: break
            }
            return .next
        }
        indexes.group()
    }

    static func version(in store: any ReadableStore) throws(StoreError) -> UInt64 {
        try store.get(StateKey.version.bytes, in: .meta) { StateKey.number($0) } ?? 0
    }

    func dead(in space: Keyspace) -> DeadRanges { space == .tree ? deadRows : deadEntries }
}

/// The rows of the keyspace `meta` that store a ``TreeState``.
enum StateKey {
    case version
    case hasPriorities
    case indexCount
    case index(UInt32)
    case deadRange(Keyspace, lower: [UInt8])

    static let prefix = Array("tree.".utf8)
    static let end = Array("tree/".utf8)

    var bytes: [UInt8] {
        switch self {
        case .version: Self.prefix + "version".utf8
        case .hasPriorities: Self.prefix + "priorities".utf8
        case .indexCount: Self.prefix + "indexes".utf8
        case .index(let id): Self.prefix + "index:".utf8 + TreeIndex.bytes(id)
        case .deadRange(let space, let lower): Self.prefix + [UInt8(ascii: space == .tree ? "r" : "e")] + ":".utf8 + lower
        }
    }

    init?(_ key: Span<UInt8>) {
        let name = key.extracting(droppingFirst: Self.prefix.count)
        if name.equals("version") {
            self = .version
        } else if name.equals("priorities") {
            self = .hasPriorities
        } else if name.equals("indexes") {
            self = .indexCount
        } else if name.count == 10, name.extracting(first: 6).equals("index:") {
            self = .index(TreeIndex.id(name.extracting(droppingFirst: 6)))
        } else if name.count >= 2, name[1] == UInt8(ascii: ":") {
            let lower = name.extracting(droppingFirst: 2).array()
            self = .deadRange(name[0] == UInt8(ascii: "r") ? .tree : .index, lower: lower)
        } else {
            return nil
        }
    }

    static func number(_ bytes: Span<UInt8>) -> UInt64 {
        var number: UInt64 = 0
        for index in bytes.indices.reversed() { number = number << 8 | UInt64(bytes[index]) }
        return number
    }

    static func bytes(_ number: UInt64) -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }
}
