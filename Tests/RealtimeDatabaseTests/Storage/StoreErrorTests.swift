import Glibc
import SQLite
import Store
import Testing

@testable import RealtimeDatabase

@Suite("Stores that cannot write")
struct StoreErrorTests {
    @Test("a full file: the transaction is undone, and there may be room later")
    func isFull() throws {
        try TemporaryFolder.with { folder in
            var settings = StoreSettings()
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
}

extension SQLiteWriter {
    /// Outside of a storage.
    static func open(_ path: String, settings: StoreSettings = StoreSettings()) throws(StoreError) -> SQLiteWriter {
        try SQLiteWriter(path: path, settings: settings, claim: WriterClaim {})
    }
}
