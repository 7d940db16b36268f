import Crypto
import Foundation
import Synchronization
import Testing

@testable import Messaging

@Suite("The file with the key for browsers' push services")
struct VapidKeyFileTests {
    private static func withFolder(_ body: (URL) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("hearth-vapid-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder)
    }

    private static func publicKey(_ file: URL) throws -> String { try VapidKey(file: file.path, subject: "mailto:a@example.com").publicKey }

    private static func mode(_ file: URL) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
    }

    @Test("it is made once, for its owner only")
    func isKept() throws {
        try Self.withFolder { folder in
            let file = folder.appendingPathComponent("key.pem")
            let key = try Self.publicKey(file)
            #expect(try Self.publicKey(file) == key)
            #expect(try Self.mode(file) == 0o600)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["key.pem"])
        }
    }

    @Test("a writer that was interrupted has left nothing that counts", arguments: ["", "\n"])
    func interrupted(_ left: String) throws {
        try Self.withFolder { folder in
            let file = folder.appendingPathComponent("key.pem")
            try Data(left.utf8).write(to: file)
            try Data("-----BEGIN PRI".utf8).write(to: folder.appendingPathComponent("key.pem.new"))
            let key = try Self.publicKey(file)
            #expect(try Self.publicKey(file) == key)
            #expect(try Self.mode(file) == 0o600)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["key.pem"])
        }
    }

    @Test("those who start at once have one key")
    func startingAtOnce() throws {
        try Self.withFolder { folder in
            let file = folder.appendingPathComponent("key.pem")
            let keys = Mutex<Set<String?>>([])
            DispatchQueue.concurrentPerform(iterations: 8) { _ in
                let key = try? Self.publicKey(file)
                _ = keys.withLock { $0.insert(key) }
            }
            let expected = try Self.publicKey(file)
            keys.withLock { keys in
                #expect(keys == [expected])
            }
        }
    }

    @Test("what is no key is not replaced")
    func damaged() throws {
        try Self.withFolder { folder in
            let file = folder.appendingPathComponent("key.pem")
            let whole = P256.Signing.PrivateKey().pemRepresentation
            for text in ["a key", String(whole.prefix(100)), P384.Signing.PrivateKey().pemRepresentation] {
                try Data(text.utf8).write(to: file)
                let problem = #expect(throws: VapidKey.Problem.self) { try Self.publicKey(file) }
                #expect(problem?.description == "\(file.path) holds no private key of P-256 in PEM; move it away, and a new one is made")
                #expect(try Data(contentsOf: file) == Data(text.utf8))
            }
        }
    }

    @Test("what cannot be read or written is named")
    func unreadable() throws {
        try Self.withFolder { folder in
            let refused = #expect(throws: VapidKey.Problem.self) { try Self.publicKey(folder) }
            #expect(refused?.description == "\(folder.path) cannot be read: Is a directory")
            let below = folder.appendingPathComponent("none/key.pem")
            let missing = #expect(throws: VapidKey.Problem.self) { try Self.publicKey(below) }
            #expect(missing?.description == "\(below.path) cannot be written: No such file or directory")
            let long = folder.appendingPathComponent("long.pem")
            try Data(repeating: 65, count: 10_000).write(to: long)
            let tooLong = #expect(throws: VapidKey.Problem.self) { try Self.publicKey(long) }
            #expect(tooLong?.description == "\(long.path) has more than 8192 bytes")
        }
    }
}
