import Glibc
import Store
import Testing

@testable import RealtimeDatabase

/// Each law of stores holds for each engine.
enum EngineUnderTest: String, CaseIterable, CustomTestStringConvertible {
    case sqlite
    case memory

    var testDescription: String { rawValue }

    /// Hands an engine without namespaces to `body`.
    func with(_ body: (any StorageEngine) throws -> Void) throws {
        switch self {
        case .memory: try body(MemoryStorage())
        case .sqlite: try TemporaryFolder.with { try body(SQLiteStorage(directory: $0)) }
        }
    }
}

/// A folder that is gone when the test is over.
enum TemporaryFolder {
    static func with<R>(_ body: (String) throws -> R) throws -> R {
        let path = try make()
        defer { remove(path) }
        return try body(path)
    }

    static func make() throws -> String {
        var template = Array("/tmp/hearth-storage-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw StoreError(systemError: errno, "make a folder") }
        return String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    static func remove(_ path: String) {
        for name in (try? StoreFiles.names(in: path)) ?? [] where name != "." && name != ".." {
            if unlink("\(path)/\(name)") != 0 { remove("\(path)/\(name)") }
        }
        rmdir(path)
    }
}
