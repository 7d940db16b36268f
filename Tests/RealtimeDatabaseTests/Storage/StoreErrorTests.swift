import Glibc
import SQLite
import Testing

@testable import RealtimeDatabase

@Suite("Stores that cannot write")
struct StoreErrorTests {
    @Test("a full file: the transaction is undone, and there may be room later")
    func isFull() throws {
        try TemporaryFolder.with { folder in
            var settings = SQLiteSettings()
            settings.pageCountMax = 20
            let store = try SQLiteWriter.open("\(folder)/a.sqlite", settings: settings)
            let reader = try SQLiteReader(path: "\(folder)/a.sqlite", settings: settings)
            try store.write { () throws(StoreError) in try store.put([1], [1]) }
            try store.begin()
            try store.put([2], [2])
            #expect(kind { for number in 0..<100 as Range<UInt8> { try store.put([3, number], .init(repeating: 1, count: 3000)) } } == .full)
            // The failed write has rolled the transaction back, and nothing more is accepted.
            #expect(!store.isInTransaction)
            #expect(throws: StoreError.self) { try store.put([4], [4]) }
            #expect(throws: StoreError.self) { try store.commit() }
            store.rollback()
            for side in [store, reader] as [any ReadableStore] { #expect(try side.rows() == [StoreModel.Row(key: [1], value: [1])]) }
            _ = try store.connection.value("PRAGMA max_page_count = 1000")
            try store.write { () throws(StoreError) in try store.put([2], .init(repeating: 1, count: 300_000)) }
            _ = try store.checkpoint(.idle)
            #expect(try reader.rows().count == 2)
        }
    }

    @Test("a limit of the file's size is a full disk, too")
    func isLimited() async throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        await #expect(processExitsWith: .exitCode(7)) { [folder = folder as String] in
            signal(SIGXFSZ, SIG_IGN)
            let store = try SQLiteStorage(directory: folder).openWriter(namespace: "a")
            try store.write { () throws(StoreError) in try store.put([1], [1]) }
            var limit = rlimit(rlim_cur: 200_000, rlim_max: rlim_t.max)
            setrlimit(__rlimit_resource_t(1), &limit)
            let met = kind { try store.write { () throws(StoreError) in try store.put([2], .init(repeating: 2, count: 400_000)) } }
            guard met == .full, !store.isInTransaction, try store.rows().count == 1 else { exit(1) }
            limit.rlim_cur = rlim_t.max
            setrlimit(__rlimit_resource_t(1), &limit)
            try store.write { () throws(StoreError) in try store.put([2], .init(repeating: 2, count: 400_000)) }
            guard try store.rows().count == 2 else { exit(2) }
            exit(7)
        }
    }

    @Test("files that are not ours are left alone", arguments: [false, true])
    func refusesForeignFiles(isDatabase: Bool) throws {
        try TemporaryFolder.with { folder in
            let path = "\(folder)/a.sqlite"
            if isDatabase {
                try Connection(path).execute("CREATE TABLE mine (x); PRAGMA user_version = 1")
            } else {
                try write(path, .init(repeating: 0x41, count: 10_000))
            }
            let storage = SQLiteStorage(directory: folder)
            #expect(kind { _ = try storage.openReader(namespace: "a") } == .corrupt)
            #expect(kind { _ = try storage.openWriter(namespace: "a") } == .corrupt)
            if isDatabase { #expect(try Connection(path).rows("SELECT name FROM sqlite_schema") == [[.text("mine")]]) }
        }
    }

    @Test("a file of a later version is left alone")
    func refusesLaterVersions() throws {
        try TemporaryFolder.with { folder in
            let storage = SQLiteStorage(directory: folder)
            _ = try storage.openWriter(namespace: "a")
            try Connection("\(folder)/a.sqlite").execute("PRAGMA user_version = 99")
            #expect(kind { _ = try storage.openWriter(namespace: "a") } == .other)
        }
    }

    @Test("a damaged page is told, and the rest can be read")
    func tellsDamage() throws {
        try TemporaryFolder.with { folder in
            let storage = SQLiteStorage(directory: folder)
            do {
                let store = try storage.openWriter(namespace: "a")
                try store.write { () throws(StoreError) in
                    for number in 0..<250 as Range<UInt8> { try store.put([number], .init(repeating: number, count: 500)) }
                }
                try store.write { () throws(StoreError) in try store.put([1], [1], in: .meta) }
            }
            let descriptor = open("\(folder)/a.sqlite", O_WRONLY)
            let rubbish = [UInt8](repeating: 0xFF, count: 4096)
            // The first pages hold the schema and the roots of the tables.
            for page in 8..<30 { pwrite(descriptor, rubbish, rubbish.count, off_t(4096 * page)) }
            close(descriptor)
            let reader = try storage.openReader(namespace: "a")
            #expect(kind { _ = try reader.rows() } == .corrupt)
            #expect(try reader.value([1], in: .meta) == [1])
        }
    }

    @Test("what the system says is what the error says", arguments: [
        (ENOSPC, StoreError.Kind.full), (EDQUOT, .full), (EROFS, .readOnly), (EACCES, .readOnly), (EIO, .io),
    ])
    func mapsSystemErrors(code: Int32, kind: StoreError.Kind) {
        #expect(StoreError(systemError: code, "write").kind == kind)
        #expect(StoreError(SQLiteError(extendedCode: 10 | 3 << 8, systemError: code, message: "", operation: "")).kind == kind)
        #expect(StoreError(systemError: code, "write").description.hasPrefix("write: "))
    }

    private func write(_ path: String, _ bytes: [UInt8]) throws {
        let descriptor = open(path, O_CREAT | O_WRONLY, 0o600)
        defer { close(descriptor) }
        try #require(Glibc.write(descriptor, bytes, bytes.count) == bytes.count)
    }
}

extension SQLiteWriter {
    /// Outside of a storage.
    static func open(_ path: String, settings: SQLiteSettings = SQLiteSettings()) throws(StoreError) -> SQLiteWriter {
        try SQLiteWriter(path: path, settings: settings, claim: WriterClaim {})
    }
}
