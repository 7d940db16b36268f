import SQLite
import Testing

@testable import RealtimeDatabase

/// One connection writes and checkpoints, and the log stays small. docs/decisions/sqlite.md says why.
@Suite("Checkpoints")
struct CheckpointTests {
    @Test("readers neither write nor checkpoint")
    func readersOnlyRead() throws {
        try TemporaryFolder.with { folder in
            let path = "\(folder)/a.sqlite"
            let writer = try SQLiteWriter.open(path)
            let reader = try SQLiteReader(path: path, settings: SQLiteSettings())
            try writer.write { () throws(StoreError) in try writer.put([1], [1]) }
            #expect(try reader.connection.value("PRAGMA query_only") == 1)
            for sql in ["DELETE FROM tree", "CREATE TABLE t (x)", "PRAGMA user_version = 5", "VACUUM"] {
                #expect(throws: SQLiteError.self) { try reader.connection.execute(sql) }
            }
            #expect(throws: SQLiteError.self) { try reader.connection.checkpoint() }
            // Even the pragma that bypasses the module's own refusal moves nothing.
            _ = try? reader.connection.rows("PRAGMA wal_checkpoint(TRUNCATE)")
            #expect(FileSystem.size("\(path)-wal") > 0)
            #expect(try writer.rows().count == 1)
        }
    }

    @Test("SQLite checkpoints nowhere by itself, and each commit of the writer is synced")
    func isSetUp() throws {
        try TemporaryFolder.with { folder in
            let writer = try SQLiteWriter.open("\(folder)/a.sqlite")
            let reader = try SQLiteReader(path: "\(folder)/a.sqlite", settings: SQLiteSettings())
            for store in [writer, reader] as [SQLiteStore] {
                #expect(try store.connection.value("PRAGMA wal_autocheckpoint") == 0)
                #expect(try store.connection.value("PRAGMA journal_mode") == "wal")
            }
            #expect(try writer.connection.value("PRAGMA synchronous") == 2)
        }
    }

    @Test("the last reader to close leaves the log to the writer")
    func readersCloseQuietly() throws {
        try TemporaryFolder.with { folder in
            let path = "\(folder)/a.sqlite"
            let storage = SQLiteStorage(directory: folder)
            do {
                let reader: any SnapshotStore
                do {
                    let writer = try storage.openWriter(namespace: "a")
                    reader = try storage.openReader(namespace: "a")
                    try reader.beginSnapshot()
                    try writer.write { () throws(StoreError) in try writer.put([1], [1]) }
                }
                reader.endSnapshot()
            }
            #expect(FileSystem.size("\(path)-wal") > 0)
            #expect(try storage.openReader(namespace: "a").value([1]) == [1])
            #expect(FileSystem.size("\(path)-wal") > 0)
            do { #expect(try storage.openWriter(namespace: "a").value([1]) == [1]) }
            // Closed as the last one, the writer has moved all of it.
            #expect(!FileSystem.isFile("\(path)-wal"))
        }
    }

    @Test("the log begins anew again and again under load")
    func boundsTheLog() throws {
        try TemporaryFolder.with { folder in
            let writer = try SQLiteWriter.open("\(folder)/a.sqlite")
            var logBytesMax = 0
            for round in 0..<300 {
                try writer.write { () throws(StoreError) in
                    for number in 0..<100 as Range<UInt8> { try writer.put([number], .init(repeating: UInt8(round & 0xFF), count: 1500)) }
                }
                let report = try writer.checkpoint(.committed)
                #expect(!report.isHeldBack)
                logBytesMax = max(logBytesMax, report.logBytes)
            }
            // Some 60 pages a commit would be 70 MiB.
            #expect(logBytesMax < 20 << 20)
            let report = try writer.checkpoint(.idle)
            #expect(report.pendingBytes == 0)
        }
    }

    @Test("a snapshot that does not end is reported, and the log is let go when it does")
    func tellsOfSnapshots() throws {
        try TemporaryFolder.with { folder in
            var settings = SQLiteSettings()
            settings.logBytesHeldBack = 4 << 20
            let writer = try SQLiteWriter.open("\(folder)/a.sqlite", settings: settings)
            let reader = try SQLiteReader(path: "\(folder)/a.sqlite", settings: settings)
            try writer.write { () throws(StoreError) in try writer.put([1], [1]) }
            try reader.beginSnapshot()
            var report = CheckpointReport()
            for round in 0..<40 where !report.isHeldBack {
                try writer.write { () throws(StoreError) in try writer.put([2], .init(repeating: UInt8(round), count: 500_000)) }
                report = try writer.checkpoint(.committed)
            }
            #expect(report.isHeldBack)
            #expect(report.pendingBytes >= 2 << 20)
            #expect(try reader.rows().count == 1)
            reader.endSnapshot()
            report = try writer.checkpoint(.idle)
            #expect(report.pendingBytes == 0)
            try writer.write { () throws(StoreError) in try writer.put([1], [2]) }
            report = try writer.checkpoint(.idle)
            #expect(!report.isHeldBack)
            #expect(report.logBytes < 1 << 20)
            #expect(FileSystem.size("\(folder)/a.sqlite-wal") <= SQLiteSettings().logPagesMax * 4096 + 64)
        }
    }
}
