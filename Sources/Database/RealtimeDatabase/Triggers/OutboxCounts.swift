import Store

/// The numbers of rows in an outbox. Stored beside them, because counting takes long. Rows are counted once in a store without numbers.
public struct OutboxCounts: Sendable, Hashable {
    /// Events that wait for their functions.
    public var waiting = 0
    /// Stored dead letters.
    public var deadLetters = 0
    /// The total size of the dead letters.
    public var deadLetterBytes = 0
    /// Dead letters that were dropped for newer ones since the store was created.
    public var dropped = 0

    /// The numbers of an empty outbox.
    public init() {}

    private static let key = Array("outbox.counts".utf8)

    init(_ store: any OrderedStore) throws(StoreError) {
        let stored = try store.get(Self.key, in: .meta) { bytes in
            stride(from: 0, to: bytes.count - bytes.count % 8, by: 8).map { Int(clamping: EventKey.sequence(bytes.extracting($0..<($0 + 8)))) }
        }
        if let stored, stored.count == 4 {
            (waiting, deadLetters, deadLetterBytes, dropped) = (stored[0], stored[1], stored[2], stored[3])
            return
        }
        (waiting, _) = try Self.counted(.outbox, in: store)
        (deadLetters, deadLetterBytes) = try Self.counted(.deadLetters, in: store)
    }

    private static func counted(_ space: Keyspace, in store: any OrderedStore) throws(StoreError) -> (count: Int, bytes: Int) {
        var (count, bytes) = (0, 0)
        try store.scan(space, from: [], to: [], reversed: false) { _, row in
            count += 1
            bytes += row.count
            return .next
        }
        return (count, bytes)
    }

    func put(in store: any OrderedStore) throws(StoreError) {
        let bytes = [waiting, deadLetters, deadLetterBytes, dropped].flatMap { EventKey.bytes(of: UInt64(max(0, $0))) }
        try store.put(Self.key, bytes.span, in: .meta)
    }
}
