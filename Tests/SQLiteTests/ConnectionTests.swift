import Glibc
import Testing

@testable import SQLite

@Suite("SQLite connections")
struct ConnectionTests {
    @Test("values of each kind go in and come out")
    func keepsValues() throws {
        let connection = try Connection(":memory:")
        try connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, value)")
        let values: [Value] = [
            .null, 7, .integer(.min), 0.5, "text", "", .text("ü\u{0}x"), .blob([]), .blob([0, 255]), .real(.infinity),
        ]
        for value in values { #expect(try connection.run("INSERT INTO t(value) VALUES(?1)", value) == 1) }
        #expect(try connection.rows("SELECT value FROM t ORDER BY id") == values.map { [$0] })
        #expect(try connection.value("SELECT count(*) FROM t") == 10)
        #expect(try connection.value("SELECT id FROM t WHERE id > 100") == nil)
        #expect(try connection.run("DELETE FROM t WHERE id > ?1", 4) == 6)
    }

    @Test("a log is emptied once no snapshot is in the way")
    func emptiesLog() throws {
        var template = Array("/tmp/hearth-log-XXXXXX".utf8CString)
        let folder = String(cString: try #require(mkdtemp(&template)))
        defer { for name in ["/db", "/db-wal", "/db-shm", ""] { remove(folder + name) } }
        let writer = try Connection("\(folder)/db")
        try writer.execute("PRAGMA journal_mode = WAL; CREATE TABLE t (value); INSERT INTO t VALUES(1)")
        let reader = try Connection("\(folder)/db", access: .readOnly)
        try reader.execute("BEGIN")
        #expect(try reader.value("SELECT value FROM t") == 1)
        try writer.execute("UPDATE t SET value = 2")
        #expect(try !writer.emptyLog())
        #expect(try reader.value("SELECT value FROM t") == 1)
        try reader.execute("COMMIT")
        #expect(writer.logPages > 0)
        #expect(try writer.emptyLog())
        var log = stat()
        #expect(writer.logPages == 0 && stat("\(folder)/db-wal", &log) == 0 && log.st_size == 0)
        #expect(throws: SQLiteError.self) { try reader.emptyLog() }
        try writer.execute("UPDATE t SET value = 3")
        #expect(try reader.value("SELECT value FROM t") == 3)
        #expect(writer.logPages > 0)
    }

    @Test("a statement is compiled once, and once more for each use inside of its use")
    func keepsStatements() throws {
        let connection = try Connection(":memory:")
        func statement(_ depth: Int) throws(SQLiteError) -> [Statement] {
            try connection.with("SELECT ?1") { outer throws(SQLiteError) in
                outer.bind(Int64(depth), at: 1)
                _ = try outer.step()
                let inner = depth == 0 ? [] : try statement(depth - 1)
                #expect(outer.integer(at: 0) == Int64(depth))
                return inner + [outer]
            }
        }
        let first = try statement(1)
        #expect(first[0] !== first[1])
        #expect(try connection.with("SELECT ?1") { $0 } === first[1])
        // Bound values are forgotten.
        #expect(try connection.value("SELECT ?1") == Value.null)
    }

    @Test("bytes are lent in both directions")
    func lendsBytes() throws {
        let connection = try Connection(":memory:")
        let statement = try connection.prepare("SELECT ?1, length(?1), typeof(?1)")
        for bytes in [[], [1, 2, 3]] as [[UInt8]] {
            try bytes.withUnsafeBytes { buffer in
                statement.bind(borrowing: buffer, at: 1)
                _ = try statement.step()
                let answer = [UInt8](statement.bytes(at: 0))
                #expect(answer == bytes)
                #expect(statement.integer(at: 1) == Int64(bytes.count))
                #expect(statement.text(at: 2) == "blob")
                #expect(statement.isRunning)
                statement.reset()
                #expect(!statement.isRunning)
            }
        }
        statement.clear()
        _ = try statement.step()
        #expect(statement.value(at: 0) == .null)
        #expect(statement.bytes(at: 0).isEmpty)
    }

    @Test("a transaction is kept as a whole or not at all")
    func hasTransactions() throws {
        let connection = try Connection(":memory:")
        try connection.execute("CREATE TABLE t (x UNIQUE)")
        try connection.transaction { () throws(SQLiteError) in _ = try connection.run("INSERT INTO t VALUES(1)") }
        #expect(throws: SQLiteError.self) {
            try connection.transaction { () throws(SQLiteError) in
                _ = try connection.run("INSERT INTO t VALUES(2)")
                _ = try connection.run("INSERT INTO t VALUES(1)")
            }
        }
        #expect(!connection.isInTransaction)
        #expect(try connection.rows("SELECT x FROM t") == [[1]])
    }

    @Test("a closed connection waits for its last statement")
    func closes() throws {
        let connection = try Connection(":memory:")
        let statement = try connection.prepare("SELECT 5")
        connection.close()
        connection.close()
        #expect(try statement.step())
        #expect(statement.integer(at: 0) == 5)
    }
}
