import SQLite
import Testing

@testable import Store

/// One connection writes and checkpoints, and the log stays small. docs/decisions/sqlite.md says why.
@Suite("Checkpoints")
struct CheckpointTests {
    @Test("readers neither write nor checkpoint")
    func readersOnlyRead() throws {
        try TemporaryFolder.with { folder in
            let path = "\(folder)/a.sqlite"
            let writer = try StoreFile(path, notes, StoreSettings(), claim: nil)
            let reader = try StoreReader(path, notes, StoreSettings())
            try writer.put(1, 1)
            #expect(try reader.connection.value("PRAGMA query_only") == 1)
            for sql in ["DELETE FROM note", "CREATE TABLE t (x)", "PRAGMA user_version = 5", "VACUUM"] {
                #expect(throws: SQLiteError.self) { try reader.connection.execute(sql) }
            }
            #expect(throws: SQLiteError.self) { try reader.connection.checkpoint() }
            // Even the pragma that bypasses the module's own refusal moves nothing.
            _ = try? reader.connection.rows("PRAGMA wal_checkpoint(TRUNCATE)")
            #expect(StoreFiles.size("\(path)-wal") > 0)
            #expect(try writer.connection.value("SELECT count(*) FROM note") == 1)
        }
    }

    @Test("SQLite checkpoints nowhere by itself, and each commit of the writer is synced")
    func isSetUp() throws {
        try TemporaryFolder.with { folder in
            let writer = try StoreFile("\(folder)/a.sqlite", notes, StoreSettings(), claim: nil)
            let reader = try StoreReader("\(folder)/a.sqlite", notes, StoreSettings())
            for connection in [writer.connection, reader.connection] {
                #expect(try connection.value("PRAGMA wal_autocheckpoint") == 0)
                #expect(try connection.value("PRAGMA journal_mode") == "wal")
            }
            #expect(try writer.connection.value("PRAGMA synchronous") == 2)
        }
    }

    @Test("the last reader to close leaves the log to the writer")
    func readersCloseQuietly() throws {
        try TemporaryFolder.with { folder in
            let path = "\(folder)/a.sqlite"
            do {
                let reader: StoreReader
                do {
                    let writer = try StoreFile(path, notes, StoreSettings(), claim: nil)
                    reader = try StoreReader(path, notes, StoreSettings())
                    try reader.beginSnapshot()
                    try writer.put(1, 1)
                }
                reader.endSnapshot()
            }
            #expect(StoreFiles.size("\(path)-wal") > 0)
            #expect(try StoreReader(path, notes, StoreSettings()).connection.value("SELECT count(*) FROM note") == 1)
            #expect(StoreFiles.size("\(path)-wal") > 0)
            do { _ = try StoreFile(path, notes, StoreSettings(), claim: nil) }
            // Closed as the last one, the writer has moved all of it.
            #expect(!StoreFiles.isFile("\(path)-wal"))
        }
    }

    @Test("the log begins anew again and again under load")
    func boundsTheLog() throws {
        try TemporaryFolder.with { folder in
            let writer = try StoreFile("\(folder)/a.sqlite", notes, StoreSettings(), claim: nil)
            var logBytesMax = 0
            for round in 0..<300 {
                try writer.begin()
                for number in 0..<100 as Range<Int64> { try writer.set(number, UInt8(round & 0xFF), count: 1500) }
                try writer.commit()
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
            var settings = StoreSettings()
            settings.logBytesHeldBack = 4 << 20
            let writer = try StoreFile("\(folder)/a.sqlite", notes, settings, claim: nil)
            let reader = try StoreReader("\(folder)/a.sqlite", notes, settings)
            try writer.put(1, 1)
            try reader.beginSnapshot()
            var report = CheckpointReport()
            for round in 0..<40 where !report.isHeldBack {
                try writer.put(2, UInt8(round), count: 500_000)
                report = try writer.checkpoint(.committed)
            }
            #expect(report.isHeldBack)
            #expect(report.pendingBytes >= 2 << 20)
            #expect(try reader.connection.value("SELECT count(*) FROM note") == 1)
            reader.endSnapshot()
            report = try writer.checkpoint(.idle)
            #expect(report.pendingBytes == 0)
            try writer.put(1, 2)
            report = try writer.checkpoint(.idle)
            #expect(!report.isHeldBack)
            #expect(report.logBytes < 1 << 20)
            #expect(StoreFiles.size("\(folder)/a.sqlite-wal") <= StoreSettings().logPagesMax * 4096 + 64)
        }
    }
}

extension StoreFile {
    /// Writes a note in a transaction of its own.
    fileprivate func put(_ id: Int64, _ byte: UInt8, count: Int = 1) throws {
        try begin()
        try set(id, byte, count: count)
        try commit()
    }

    fileprivate func set(_ id: Int64, _ byte: UInt8, count: Int = 1) throws {
        let text = [UInt8](repeating: byte, count: count)
        try connection.run("INSERT OR REPLACE INTO note(id, text) VALUES(?1, ?2)", .integer(id), .blob(text))
    }
}
