import Glibc
import Store
import Testing

@testable import RealtimeDatabase

@Suite("Storage engines")
struct StorageEngineTests {
    @Test("namespaces are made, listed, found and deleted", arguments: EngineUnderTest.allCases)
    func keepsNamespaces(engine: EngineUnderTest) throws {
        try engine.with { engine in
            #expect(try engine.namespaces() == [])
            for name in ["b-2", "a", "z"] {
                let store = try engine.openWriter(namespace: name)
                try store.write { () throws(StoreError) in try store.put([1], [1]) }
            }
            #expect(try engine.namespaces() == ["a", "b-2", "z"])
            #expect(engine.exists(namespace: "a"))
            try engine.deleteNamespace("a")
            try engine.deleteNamespace("never")
            #expect(!engine.exists(namespace: "a"))
            #expect(try engine.namespaces() == ["b-2", "z"])
            #expect(try engine.openWriter(namespace: "a").value([1]) == nil)
        }
    }

    @Test("a namespace has one writer", arguments: EngineUnderTest.allCases)
    func hasOneWriter(engine: EngineUnderTest) throws {
        try engine.with { engine in
            do {
                let first = try engine.openWriter(namespace: "a")
                #expect(kind { _ = try engine.openWriter(namespace: "a") } == .busy)
                #expect(kind { try engine.deleteNamespace("a") } == .busy)
                try first.write { () throws(StoreError) in try first.put([1], [1]) }
            }
            #expect(try engine.openWriter(namespace: "a").value([1]) == [1])
        }
    }

    @Test("what is no name is refused", arguments: EngineUnderTest.allCases, ["", "A", "a/b", "../a", "a.b", "ä", "a b", "a_b"])
    func checksNames(engine: EngineUnderTest, name: String) throws {
        try engine.with { engine in
            #expect(kind { _ = try engine.openWriter(namespace: name) } == .invalidName)
            #expect(kind { _ = try engine.openReader(namespace: name) } == .invalidName)
            #expect(kind { try engine.deleteNamespace(name) } == .invalidName)
            #expect(!engine.exists(namespace: name))
            let names = try engine.namespaces()
            #expect(names == [])
        }
        #expect(NamespaceName.isValid(String(repeating: "a", count: 100)))
        #expect(!NamespaceName.isValid(String(repeating: "a", count: 101)))
    }

    @Test("there is nothing to read before there was a writer", arguments: EngineUnderTest.allCases)
    func needsAWriterFirst(engine: EngineUnderTest) throws {
        try engine.with { engine in
            #expect(kind { _ = try engine.openReader(namespace: "a") } == .notFound)
        }
    }

    @Test("files are their owner's alone, also in folders that are made for them")
    func protectsFiles() throws {
        try TemporaryFolder.with { folder in
            let storage = SQLiteStorage(directory: "\(folder)/deep/er")
            let store = try storage.openWriter(namespace: "a")
            try store.write { () throws(StoreError) in try store.put([1], [1]) }
            #expect(mode("\(folder)/deep") == 0o700)
            for name in ["a.sqlite", "a.sqlite-wal", "a.sqlite-shm", "lock"] { #expect(mode("\(folder)/deep/er/\(name)") == 0o600) }
        }
    }

    @Test("a folder has one storage that writes")
    func locksTheFolder() throws {
        try TemporaryFolder.with { folder in
            let first = SQLiteStorage(directory: folder)
            _ = try first.openWriter(namespace: "a")
            let second = SQLiteStorage(directory: folder)
            #expect(kind { _ = try second.openWriter(namespace: "b") } == .busy)
            #expect(try second.namespaces() == ["a"])
            withExtendedLifetime(first) {}
        }
    }

    private func mode(_ path: String) -> mode_t {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
    }
}

/// The kind of error that `body` throws; nil for none.
func kind(_ body: () throws -> Void) -> StoreError.Kind? {
    do {
        try body()
        return nil
    } catch {
        return (error as? StoreError)?.kind
    }
}
