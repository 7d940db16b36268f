import SQLite
import Store

/// The compiled statements of one SQL text. Several exist if they were once in use at the same time, because reads are nested.
struct StatementPool {
    let sql: String
    private var idle: [Statement] = []

    init(_ sql: String) {
        self.sql = sql
    }

    @inline(__always)
    mutating func take(_ connection: Connection) throws(StoreError) -> Statement {
        if let statement = idle.popLast() { return statement }
        do {
            return try connection.prepare(sql)
        } catch {
            throw StoreError(error)
        }
    }

    @inline(__always)
    mutating func giveBack(_ statement: Statement) {
        idle.append(statement)
    }

    /// The pools of all keyspaces, in their order. `{}` is replaced by the table's name.
    static func forEachKeyspace(_ sql: String) -> [StatementPool] {
        Keyspace.allCases.map { space in
            StatementPool(sql.split(separator: "{}", omittingEmptySubsequences: false).joined(separator: space.table))
        }
    }
}

extension Keyspace {
    /// The table in the file of a namespace.
    var table: String {
        switch self {
        case .tree: "tree"
        case .index: "indexes"
        case .outbox: "outbox"
        case .deadLetters: "deadLetters"
        case .meta: "meta"
        }
    }
}

extension StoreSchema {
    /// The files of namespaces: a table for each keyspace. The header contains `Hrth`. The reasons are in docs/decisions/sqlite.md.
    static let namespace = StoreSchema(
        kind: "a namespace's file", applicationID: 0x4872_7468,
        migrations: [
            Keyspace.allCases.map { "CREATE TABLE \($0.table) (key BLOB NOT NULL PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;" }.joined()
        ])
}
