import Glibc
import SQLite
import Store
import Testing

@testable import Messaging

@Suite("Files of earlier versions")
struct StoreFormatTests {
    private let columns = "project, fid, token, platform, package, name, address, created, seen, uninstalled, overflowed"

    private func add(_ name: String, seen: Int64, _ connection: Connection) throws(SQLiteError) {
        try connection.run(
            "INSERT INTO device(\(columns)) VALUES('p', ?1, ?1, 'web', '', '', '{}', 5, ?2, 0, 0)", .text(name), .integer(seen))
    }

    @Test("devices from before there was a bound for new ones count as known, once")
    func knowsOldDevices() throws {
        var template = Array("/tmp/hearth-messages-XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        let folder = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        let path = "\(folder)/messages.sqlite"
        defer {
            for name in ["messages.sqlite", "messages.sqlite.lock", "messages.sqlite-wal", "messages.sqlite-shm"] { unlink("\(folder)/\(name)") }
            rmdir(folder)
        }
        do {
            var first = StoreSchema.messaging
            first.additions = ""
            let file = try StoreFile(path, first, StoreSettings(), claim: nil)
            try withExtendedLifetime(file) { try add("old", seen: 5, file.connection) }
        }
        do {
            let store = try MessagingStore(path: path, figures: StoreFigures())
            #expect(try store.device(fid: "old")?.seen == 6)
            try add("new", seen: 5, store.connection)
        }
        let store = try MessagingStore(path: path, figures: StoreFigures())
        #expect(try store.device(fid: "old")?.seen == 6 && store.device(fid: "new")?.seen == 5)
        #expect(throws: StoreError.self, "another one has it open") { try MessagingStore(path: path, figures: StoreFigures()) }
    }
}
