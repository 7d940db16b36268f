import Files
import Foundation
import Glibc
import Synchronization
import Testing

@Suite struct DurableFileTests {
    @Test func replacesWhatIsThere() throws {
        try withFolder { folder throws in
            let path = "\(folder)/a"
            for text in ["one", "another", ""] {
                try DurableFile.replace(path, with: Array(text.utf8), mode: 0o600)
                #expect(try WholeFile.readText(path, sizeBytesMax: 100) == text)
            }
            #expect(mode(path) == 0o600)
            #expect(names(folder) == ["a"])
        }
    }

    @Test func leavesNothingWhereItFails() throws {
        try withFolder { folder throws in
            mkdir("\(folder)/taken", 0o700)
            defer { rmdir("\(folder)/taken") }
            let failure = #expect(throws: FileFailure.self) { try DurableFile.replace("\(folder)/taken", with: [1], mode: 0o600) }
            #expect(failure?.description == "cannot be written: Is a directory")
            #expect(names(folder) == ["taken"])
            let missing = #expect(throws: FileFailure.self) { try DurableFile.replace("\(folder)/none/a", with: [1], mode: 0o600) }
            #expect(missing?.isMissing == true)
        }
    }

    private static func kept(_ path: String, made text: String) throws -> String? {
        try DurableFile.kept(path, sizeBytesMax: 100, mode: 0o600) { Array(text.utf8) }.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func isMadeOnce() throws {
        try withFolder { folder throws in
            #expect(try Self.kept("\(folder)/a", made: "first") == "first")
            #expect(try Self.kept("\(folder)/a", made: "second") == "first")
            #expect(mode("\(folder)/a") == 0o600)
            #expect(names(folder) == ["a"])
        }
    }

    @Test(arguments: ["", " \n"])
    func makesWhatAnInterruptedWriterHasLeft(_ left: String) throws {
        try withFolder { folder throws in
            write(left, to: "\(folder)/a", mode: 0o644)
            write("half", to: "\(folder)/a.new", mode: 0o644)
            #expect(try Self.kept("\(folder)/a", made: "first") == "first")
            #expect(mode("\(folder)/a") == 0o600)
            #expect(names(folder) == ["a"])
        }
    }

    @Test func leavesALinkThatLeadsNowhere() throws {
        try withFolder { folder throws in
            symlink("secrets/key", "\(folder)/a")
            #expect(try Self.kept("\(folder)/a", made: "first") == nil)
            #expect(names(folder) == ["a"])
        }
    }

    @Test func refusesWhatIsNoSmallFile() throws {
        try withFolder { folder throws in
            #expect(throws: FileFailure.self) { try Self.kept("/dev/zero", made: "first") }
            #expect(throws: FileFailure.self) { try Self.kept(folder, made: "first") }
            #expect(throws: FileFailure.self) { try Self.kept("\(folder)/none/a", made: "first") }
        }
    }

    @Test func isTheSameForAllWhoAskAtOnce() throws {
        try withFolder { folder throws in
            for round in 0..<20 {
                let found = Mutex<Set<String?>>([])
                DispatchQueue.concurrentPerform(iterations: 8) { number in
                    let text = try? Self.kept("\(folder)/\(round)", made: "\(number)")
                    _ = found.withLock { $0.insert(text) }
                }
                found.withLock { found in
                    #expect(found.count == 1 && !found.contains(nil))
                }
            }
        }
    }
}
