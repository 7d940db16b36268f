import SQLite
public import Store

/// The common part of both kinds of connection: reading. Each active read uses a separate statement.
public class SQLiteStore: ReadableStore {
    let connection: Connection
    private var gets = StatementPool.forEachKeyspace("SELECT value FROM {} WHERE key = ?1")
    /// Four for each keyspace: forward without and with an upper bound, then backward without and with one.
    private var scans =
        StatementPool.forEachKeyspace("SELECT key, value FROM {} WHERE key >= ?1 ORDER BY key")
        + StatementPool.forEachKeyspace("SELECT key, value FROM {} WHERE key >= ?1 AND key < ?2 ORDER BY key")
        + StatementPool.forEachKeyspace("SELECT key, value FROM {} WHERE key >= ?1 ORDER BY key DESC")
        + StatementPool.forEachKeyspace("SELECT key, value FROM {} WHERE key >= ?1 AND key < ?2 ORDER BY key DESC")

    /// The open file. It is closed, and available to the next writer, when no statements are left.
    private let owner: AnyObject

    init(_ connection: Connection, owner: AnyObject) {
        self.connection = connection
        self.owner = owner
    }

    deinit {
        gets = []
        scans = []
    }

    public final func get<R>(_ key: [UInt8], in space: Keyspace, _ body: (Span<UInt8>) -> R) throws(StoreError) -> R? {
        let statement = try gets[space.rawValue].take(connection)
        defer {
            statement.reset()
            gets[space.rawValue].giveBack(statement)
        }
        do {
            return try key.withUnsafeBufferPointer { key throws(SQLiteError) -> R? in
                statement.bind(borrowing: UnsafeRawBufferPointer(key), at: 1)
                guard try statement.step() else { return nil }
                return body(Span(_unsafeElements: statement.bytes(at: 0)))
            }
        } catch {
            throw StoreError(error)
        }
    }

    public final func scan(
        _ space: Keyspace, from lower: [UInt8], to upper: [UInt8], reversed: Bool,
        _ body: (_ key: Span<UInt8>, _ value: Span<UInt8>) -> ScanStep
    ) throws(StoreError) {
        var (lower, upper) = (lower, upper)
        while let target = try run(space, lower, upper, reversed, body) {
            if reversed {
                // The bound is exclusive, so it is the first key after `target`.
                upper = target + [0]
            } else {
                lower = target
            }
        }
    }

    /// Scans until `body` requests a seek, and returns its target.
    private func run(
        _ space: Keyspace, _ lower: [UInt8], _ upper: [UInt8], _ reversed: Bool,
        _ body: (_ key: Span<UInt8>, _ value: Span<UInt8>) -> ScanStep
    ) throws(StoreError) -> [UInt8]? {
        let pool = space.rawValue + Keyspace.allCases.count * ((reversed ? 2 : 0) + (upper.isEmpty ? 0 : 1))
        let statement = try scans[pool].take(connection)
        defer {
            statement.reset()
            scans[pool].giveBack(statement)
        }
        do {
            return try lower.withUnsafeBufferPointer { lower throws(SQLiteError) -> [UInt8]? in
                try upper.withUnsafeBufferPointer { upper throws(SQLiteError) -> [UInt8]? in
                    statement.bind(borrowing: UnsafeRawBufferPointer(lower), at: 1)
                    if !upper.isEmpty { statement.bind(borrowing: UnsafeRawBufferPointer(upper), at: 2) }
                    return try SQLiteStore.rows(of: statement, reversed: reversed, body)
                }
            }
        } catch {
            throw StoreError(error)
        }
    }

    private static func rows(
        of statement: Statement, reversed: Bool, _ body: (_ key: Span<UInt8>, _ value: Span<UInt8>) -> ScanStep
    ) throws(SQLiteError) -> [UInt8]? {
        while try statement.step() {
            let key = Span(_unsafeElements: statement.bytes(at: 0))
            switch body(key, Span(_unsafeElements: statement.bytes(at: 1))) {
            case .next: continue
            case .stop: return nil
            case .seek(let target):
                // `body` may have invalidated the memory of `key`.
                let passed = Span(_unsafeElements: statement.bytes(at: 0))
                let isAhead = reversed ? ByteOrder.precedes(target.span, passed) : ByteOrder.precedes(passed, target.span)
                if isAhead { return target }
            }
        }
        return nil
    }
}
