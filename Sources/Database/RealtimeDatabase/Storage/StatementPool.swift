import SQLite

/// The compiled statements of one SQL text. There are as many as were once in use at the same time, since reads are nested.
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
}
