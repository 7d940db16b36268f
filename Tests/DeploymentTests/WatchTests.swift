import Foundation
import Testing

@testable import Configuration
@testable import Deployment

@Suite("What is watched")
struct WatchScopeTests {
    @Test(
        "names that editors and tools leave for themselves",
        arguments: [".Main.swift.swp", "Main.swift~", "#Main.swift#", "4913", "build.log", ".DS_Store", ".git", "a.tmp", "a.orig"])
    func passing(_ name: String) { #expect(WatchScope.isPassing(name)) }

    @Test("names that count", arguments: ["Main.swift", "Package.swift", ".env", ".env.demo", ".secret.local", "plain.c", "log.swift"])
    func lasting(_ name: String) { #expect(!WatchScope.isPassing(name)) }

    @Test("a look finds files of trees at any depth, and the folders in which a change would be seen")
    func looks() throws {
        let folder = "/tmp/hearth-scope-\(getpid())"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.createDirectory(atPath: "\(folder)/Sources/A/deep", withIntermediateDirectories: true)
        for name in ["Sources/A/a.swift", "Sources/A/deep/b.swift", "Sources/A/c.swift~", "Sources/A/.hidden"] {
            try Data().write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
        }
        let plugin = WatchScope.Plugin(files: ["\(folder)/missing/lib.so"], trees: ["\(folder)/Sources/A"])
        let scope = WatchScope(plugins: ["A": plugin], settings: ["\(folder)/functions.json"])
        let snapshot = scope.snapshot()
        #expect(Set(snapshot.stamps.keys) == ["\(folder)/Sources/A/a.swift", "\(folder)/Sources/A/deep/b.swift"])
        #expect(Set(snapshot.folders.keys) == [folder, "\(folder)/Sources", "\(folder)/Sources/A", "\(folder)/Sources/A/deep"])
        #expect(snapshot.isIncomplete && !snapshot.isFull)
        let (few, narrow) = (scope.snapshot(filesMax: 1), scope.snapshot(foldersMax: 2))
        #expect(few.isFull && few.stamps.count == 1)
        #expect(narrow.isFull && narrow.folders.count == 2)
        #expect(plugin.owns("\(folder)/Sources/A/new.swift") && !plugin.owns("\(folder)/Sources/AB/new.swift"))
    }
}

@Suite("Settings that change")
struct ChangedSettingsTests {
    func configuration(_ more: String) throws -> Configuration {
        try Configuration(parsing: Array("{\"project\": \"demo-hearth\"\(more)}".utf8), file: "/tmp/functions.json", mode: .development)
    }

    @Test(
        "which of them count from the next start",
        arguments: [
            ("", "", []), (",\"server\":{\"port\":1}", ",\"server\":{\"port\":2}", ["server.port"]),
            ("", ",\"workers\":{\"idleSeconds\":5,\"openFiles\":64}", ["workers.idleSeconds", "workers.openFiles"]),
            ("", ",\"region\":\"europe-west1\"", ["region"]), ("", ",\"functions\":{\"a\":{\"memory\":\"128MiB\"}}", []),
            ("", ",\"database\":{\"storage\":\"memory\"}", ["database.storage"]), ("", ",\"watch\":{\"configuration\":\"debug\"}", []),
            (",\"server\":{\"port\":1}", ",\"server\":{\"port\":1.0}", []),
        ])
    func named(_ before: String, _ after: String, _ names: [String]) throws {
        #expect(try configuration(after).settingsThatNeedRestart(since: configuration(before)) == names)
    }

    @Test("where products are looked for")
    func folders() throws {
        #expect(try configuration("").productFolders == ["/tmp/.build/release", "/tmp/.build/debug"])
        #expect(try configuration(",\"watch\":{\"configuration\":\"debug\"}").productFolders == ["/tmp/.build/debug", "/tmp/.build/release"])
    }
}
