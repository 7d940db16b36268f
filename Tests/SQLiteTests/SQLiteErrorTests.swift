import CSQLite
import Glibc
import Testing

@testable import SQLite

@Suite("SQLite errors")
struct SQLiteErrorTests {
    @Test("each has SQLite's extended code, its words and what was tried")
    func saysWhatFailed() throws {
        let connection = try Connection(":memory:")
        try connection.execute("CREATE TABLE t (x UNIQUE, y CHECK (y > 0))")
        _ = try connection.run("INSERT INTO t VALUES(1, 1)")
        let twice = try #require(error { _ = try connection.run("INSERT INTO t VALUES(1, 1)") })
        #expect(twice.kind == .constraint)
        #expect(twice.extendedCode == SQLITE_CONSTRAINT | 8 << 8)
        #expect(twice.code == SQLITE_CONSTRAINT)
        #expect(twice.message == "UNIQUE constraint failed: t.x")
        #expect(twice.operation == "INSERT INTO t VALUES(1, 1)")
        #expect(twice.description == "INSERT INTO t VALUES(1, 1): UNIQUE constraint failed: t.x (2067)")
        let wrong = try #require(error { try connection.execute("SELEKT") })
        #expect(wrong.kind == .other)
        #expect(wrong.message == "near \"SELEKT\": syntax error")
        #expect(error { _ = try connection.prepare("") }?.code == SQLITE_MISUSE)
        // The connection works on.
        #expect(try connection.value("SELECT count(*) FROM t") == 1)
    }

    @Test("what cannot be opened says why")
    func saysWhyNotOpened() throws {
        let missing = try #require(error { _ = try Connection("/nowhere/at/all") })
        #expect(missing.kind == .cannotOpen)
        #expect(missing.systemError == ENOENT)
        #expect(missing.description.contains("No such file"))
        #expect(error { _ = try Connection("/proc/self/mem", access: .readOnly).value("SELECT 1 FROM sqlite_schema") } != nil)
    }

    @Test("a reader is refused")
    func refusesReaders() throws {
        let path = "/tmp/hearth-sqlite-\(getpid()).sqlite"
        defer { for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) } }
        let writer = try Connection(path)
        try writer.execute("PRAGMA journal_mode = WAL; CREATE TABLE t (x); INSERT INTO t VALUES(1)")
        #expect(writer.logPages > 0)
        let reader = try Connection(path, access: .readOnly)
        #expect(error { try reader.execute("INSERT INTO t VALUES(2)") }?.kind == .readOnly)
        #expect(error { _ = try reader.checkpoint() }?.kind == .readOnly)
        #expect(try reader.value("SELECT count(*) FROM t") == 1)
        let moved = try writer.checkpoint()
        #expect(moved.movedPages == moved.logPages)
        // Another connection that is in the way of a write.
        let other = try Connection(path)
        try writer.execute("BEGIN IMMEDIATE")
        #expect(error { try other.execute("BEGIN IMMEDIATE") }?.kind == .busy)
        try writer.execute("COMMIT")
    }

    @Test("what could not be synced is written over in the log", arguments: [(csqlite_ioerr_fsync(), 1), (SQLITE_IOERR, 0)])
    func writesOverWhatWasNotSynced(code: Int32, pages: Int) throws {
        let path = "/tmp/hearth-sqlite-undo-\(getpid())-\(code).sqlite"
        defer { for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) } }
        let writer = try Connection(path)
        try writer.execute("PRAGMA journal_mode = WAL; CREATE TABLE t (x); PRAGMA user_version = 7")
        let before = writer.logPages
        try writer.execute("BEGIN; INSERT INTO t VALUES(1)")
        writer.undo(SQLiteError(extendedCode: code, message: "", operation: "COMMIT"))
        #expect(!writer.isInTransaction && writer.logPages == before + pages)
        #expect(try writer.value("SELECT count(*) FROM t") == 0)
        #expect(try writer.value("PRAGMA user_version") == 7)
    }

    @Test("the system's number decides where SQLite only knows that something failed", arguments: [
        (ENOSPC, SQLiteError.Kind.full), (EFBIG, .full), (EROFS, .readOnly), (EACCES, .readOnly), (EIO, .io), (0, .io),
    ])
    func readsSystemErrors(number: Int32, kind: SQLiteError.Kind) {
        #expect(SQLiteError(extendedCode: SQLITE_IOERR | 3 << 8, systemError: number, message: "", operation: "").kind == kind)
    }

    private func error(_ body: () throws -> Void) -> SQLiteError? {
        do {
            try body()
            return nil
        } catch {
            return error as? SQLiteError
        }
    }
}
