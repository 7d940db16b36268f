import Files
import Foundation
import Testing

@testable import Deployment

/// `deployed.json`: what is written can be read again, and what could not be is not written.
@Suite struct DeployedFileTests {
    private static func withFolder(_ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("hearth-deployed-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder.path)
    }

    private static func state(revision: Int, names: Int) -> DeployedState {
        var state = DeployedState()
        state.revision = revision
        for number in 0..<names { state.retired["function-\(number)"] = number }
        return state
    }

    @Test func readsWhatItHasWritten() throws {
        try Self.withFolder { folder in
            let file = DeployedFile(path: "\(folder)/deployed.json")
            #expect(try file.read() == DeployedState())
            try file.write(Self.state(revision: 3, names: 10))
            #expect(try file.read() == Self.state(revision: 3, names: 10))
            let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
    }

    @Test func leavesWhatIsThereWhereItIsTooLong() throws {
        try Self.withFolder { folder in
            let file = DeployedFile(path: "\(folder)/deployed.json", sizeMax: 1000)
            try file.write(Self.state(revision: 1, names: 1))
            let failure = #expect(throws: FileFailure.self) { try file.write(Self.state(revision: 2, names: 100)) }
            #expect(failure?.description == "cannot be written: File too large")
            #expect(try file.read().revision == 1)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["deployed.json"])
        }
    }
}
