import Glibc
import SQLite
import Testing

@testable import Store

/// A kind of store for tests.
let notes = StoreSchema(
    kind: "a store of notes", applicationID: 0x6E6F_7465,
    migrations: ["CREATE TABLE note (id INTEGER PRIMARY KEY, text BLOB NOT NULL);"])

@Suite("Formats of stores")
struct StoreSchemaTests {
    /// The same kind of store, a version later.
    private var later: StoreSchema {
        var later = notes
        later.migrations.append("ALTER TABLE note ADD COLUMN author TEXT; UPDATE note SET author = 'nobody';")
        return later
    }

    private func columns(_ connection: Connection) throws(SQLiteError) -> [Value] {
        try connection.rows("SELECT name FROM pragma_table_info('note')").map { $0[0] }
    }

    @Test("a file of an earlier version is brought up to date, with what is in it")
    func migrates() throws {
        try TemporaryFolder.with { folder in
            do {
                let file = try StoreFile("\(folder)/a.sqlite", notes, StoreSettings(), claim: nil)
                try file.connection.run("INSERT INTO note(text) VALUES(?1)", .text("hello"))
                #expect(try file.connection.value("PRAGMA user_version") == 1)
            }
            for _ in 1...2 {
                let file = try StoreFile("\(folder)/a.sqlite", later, StoreSettings(), claim: nil)
                #expect(try file.connection.rows("SELECT text, author FROM note") == [[.text("hello"), .text("nobody")]])
                #expect(try file.connection.value("PRAGMA user_version") == 2)
            }
        }
    }

    @Test("a migration that fails leaves the file as it was")
    func migratesCompletely() throws {
        try TemporaryFolder.with { folder in
            do { _ = try StoreFile("\(folder)/a.sqlite", notes, StoreSettings(), claim: nil) }
            var wrong = later
            wrong.migrations[1] += "INSERT INTO missing VALUES(1);"
            #expect(throws: StoreError.self) { try StoreFile("\(folder)/a.sqlite", wrong, StoreSettings(), claim: nil) }
            let file = try StoreFile("\(folder)/a.sqlite", notes, StoreSettings(), claim: nil)
            #expect(try columns(file.connection) == ["id", "text"])
            #expect(try file.connection.value("PRAGMA user_version") == 1)
        }
    }

    @Test("a new file is made with all migrations, or with none")
    func makesWhole() throws {
        try TemporaryFolder.with { folder in
            var wrong = later
            wrong.migrations[1] += "INSERT INTO missing VALUES(1);"
            #expect(throws: StoreError.self) { try StoreFile("\(folder)/a.sqlite", wrong, StoreSettings(), claim: nil) }
            #expect(try Connection("\(folder)/a.sqlite").value("SELECT count(*) FROM sqlite_schema") == 0)
            let file = try StoreFile("\(folder)/a.sqlite", later, StoreSettings(), claim: nil)
            #expect(try columns(file.connection) == ["id", "text", "author"])
            #expect(try file.connection.value("PRAGMA user_version") == 2)
        }
    }

    @Test("additions do not change the version: the program before can open the file")
    func adds() throws {
        try TemporaryFolder.with { folder in
            var more = notes
            more.additions = "CREATE TABLE IF NOT EXISTS author (name TEXT);"
            for schema in [notes, more, more, notes] {
                let file = try StoreFile("\(folder)/a.sqlite", schema, StoreSettings(), claim: nil)
                #expect(try file.connection.value("PRAGMA user_version") == 1)
            }
            #expect(try Connection("\(folder)/a.sqlite").value("SELECT count(*) FROM author") == 0)
        }
    }

    @Test("files of other kinds, of later versions and of no database are left alone")
    func refusesOthers() throws {
        try TemporaryFolder.with { folder in
            var other = notes
            other.applicationID += 1
            do { _ = try StoreFile("\(folder)/a.sqlite", other, StoreSettings(), claim: nil) }
            do { _ = try StoreFile("\(folder)/b.sqlite", later, StoreSettings(), claim: nil) }
            try Connection("\(folder)/c.sqlite").execute("CREATE TABLE mine (x)")
            let descriptor = open("\(folder)/d.sqlite", O_CREAT | O_WRONLY, 0o600)
            #expect(write(descriptor, [UInt8](repeating: 0x41, count: 10_000), 10_000) == 10_000)
            close(descriptor)
            for name in ["a", "d"] {
                #expect(kind { _ = try StoreFile("\(folder)/\(name).sqlite", notes, StoreSettings(), claim: nil) } == .corrupt)
            }
            #expect(kind { _ = try StoreReader("\(folder)/a.sqlite", notes, StoreSettings()) } == .corrupt)
            #expect(kind { _ = try StoreFile("\(folder)/b.sqlite", notes, StoreSettings(), claim: nil) } == .other)
            #expect(kind { _ = try StoreFile("\(folder)/c.sqlite", notes, StoreSettings(), claim: nil) } == .corrupt)
            #expect(try Connection("\(folder)/c.sqlite").rows("SELECT name FROM sqlite_schema") == [["mine"]])
        }
    }

    @Test("a new file is for its owner only, and its log too")
    func isPrivate() throws {
        try TemporaryFolder.with { folder in
            let file = try StoreFile("\(folder)/a.sqlite", notes, StoreSettings(), claim: nil)
            try file.connection.run("INSERT INTO note(text) VALUES('x')")
            for name in ["a.sqlite", "a.sqlite-wal"] {
                var status = stat()
                #expect(stat("\(folder)/\(name)", &status) == 0 && status.st_mode & 0o777 == 0o600)
            }
        }
    }

    @Test("a store in memory has no file")
    func isInMemory() throws {
        let file = try StoreFile(StoreFile.inMemory, notes, StoreSettings(), claim: nil)
        try file.begin()
        try file.connection.run("INSERT INTO note(text) VALUES('x')")
        try file.commit()
        #expect(try file.checkpoint(.committed).logBytes == 0)
        #expect(file.sizeBytes == 0)
    }

    @Test("the claim is released after the file is closed")
    func releasesClaim() throws {
        final class Claim {}
        var claim: Claim? = Claim()
        weak let held = claim
        let file = try StoreFile(StoreFile.inMemory, notes, StoreSettings(), claim: claim)
        claim = nil
        #expect(held != nil)
        file.close()
        #expect(held == nil)
        #expect(throws: StoreError.self) { try file.begin() }
    }
}

@Suite("Errors of stores")
struct StoreErrorKindTests {
    @Test("what the system says is what the error says", arguments: [
        (ENOSPC, StoreError.Kind.full), (EDQUOT, .full), (EROFS, .readOnly), (EACCES, .readOnly), (EIO, .io), (EMFILE, .exhausted),
    ])
    func mapsSystemErrors(code: Int32, kind: StoreError.Kind) {
        #expect(StoreError(systemError: code, "write").kind == kind)
        #expect(StoreError(SQLiteError(extendedCode: 10 | 3 << 8, systemError: code, message: "", operation: "")).kind == kind)
        #expect(StoreError(systemError: code, "write").description.hasPrefix("write: "))
    }
}

/// The kind of error that `body` throws.
func kind(_ body: () throws -> Void) -> StoreError.Kind? {
    do {
        try body()
        return nil
    } catch {
        return (error as? StoreError)?.kind
    }
}

/// A folder that is gone when the test is over.
enum TemporaryFolder {
    static func with<R>(_ body: (String) throws -> R) throws -> R {
        var template = Array("/tmp/hearth-store-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw StoreError(systemError: errno, "make a folder") }
        let path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        defer {
            for name in (try? StoreFiles.names(in: path)) ?? [] where name != "." && name != ".." { unlink("\(path)/\(name)") }
            rmdir(path)
        }
        return try body(path)
    }
}
