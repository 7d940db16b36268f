import AdminProtocol
import HearthBytes
import Glibc
import HearthJSON
import Testing

@testable import CommandClient

@Suite struct DeploymentSummaryTests {
    @Test func answersAreRead() throws {
        let text = #"""
            {"deployment": 4, "revision": 12, "new": 1, "changes": [
                {"function": "a", "plugin": "P", "action": "update", "reason": "library", "fromVersion": 2, "toVersion": 3, "more": {}},
                {"function": "b", "plugin": "P", "action": "keep"}]}
            """#
        let plan = try #require(DeploymentSummary(try JSONValue(parsing: text)))
        #expect((plan.deployment, plan.revision) == (4, 12))
        #expect(plan.changes[0] == FunctionChange(function: "a", plugin: "P", action: .update, reason: "library", fromVersion: 2, toVersion: 3))
        #expect(plan.changes[0].json == ["function": "a", "plugin": "P", "action": "update", "reason": "library", "fromVersion": 2, "toVersion": 3])
        #expect(plan.changesAnything)
        #expect(!plan.keeping { $0.action == .keep }.changesAnything)
    }

    @Test(arguments: [
        "[]", "{}", #"{"revision": 1}"#, #"{"revision": "1", "changes": []}"#, #"{"revision": 1, "changes": [{"function": "a"}]}"#,
        #"{"revision": 1, "changes": [{"function": "a", "action": "explode"}]}"#,
    ])
    func whatIsNoPlan(text: String) throws {
        #expect(DeploymentSummary(try JSONValue(parsing: text)) == nil)
    }

    @Test func requestsSayWhatIsMeant() throws {
        let file = try ArtifactFile(try Self.file("library"))
        let plugin = DeployedPlugin(
            name: "P", file: file, environment: ["B": "2", "A": "1"], functions: ["a": ["concurrency": 1]])
        let request = DeploymentRequest(plugins: [plugin.request], names: ["a", "b-c"], validateOnly: false, removes: true, expectedRevision: 7)
        #expect(
            request.json == [
                "plugins": ["P": [
                    "artifact": .string(file.hash), "file": .string(file.name), "environment": ["A": "1", "B": "2"],
                    "functions": ["a": ["concurrency": 1]],
                ]],
                "names": ["a", "b-c"], "validateOnly": false, "removes": true, "expectedRevision": 7,
            ])
    }

    @Test func trafficIsReadLargestFirst() throws {
        func traffic(_ text: String) throws -> [[Int]] {
            let json = try JSONValue(parsing: #"{"name": "a", "plugin": "P", "version": 6, "traffic": \#(text)}"#)
            return HostFunction(try #require(FunctionEntry(json)), at: try HostURL(parsing: "http://a")).traffic.map { [$0.version, $0.percent] }
        }
        #expect(try traffic(#"{"5": 10, "6": 90, "4": 0}"#) == [[6, 90], [5, 10]])
        #expect(try traffic("{}") == [[6, 100]])
        #expect(try traffic(#"{"5": 100}"#) == [[5, 100]])
    }

    @Test func addressesAreThoseOfWhoAsks() throws {
        let json: JSONValue = ["name": "a", "plugin": "P", "url": "http://0.0.0.0:5001/demo/us-central1/a"]
        let function = HostFunction(try #require(FunctionEntry(json)), at: try HostURL(parsing: "https://example.org/hearth"))
        #expect(function.url == "https://example.org/hearth/demo/us-central1/a")
    }

    // MARK: Libraries

    private static func file(_ contents: String) throws -> String {
        var template = Array("/tmp/hearth-artifact-XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        defer { close(descriptor) }
        #expect(contents.utf8.withContiguousStorageIfAvailable { write(descriptor, $0.baseAddress, $0.count) } == contents.utf8.count)
        return template.withUnsafeBufferPointer { String(decoding: UnsafeRawBufferPointer($0).dropLast(), as: UTF8.self) }
    }

    @Test func librariesAreKnownByTheirBytes() throws {
        let path = try Self.file("abc")
        defer { unlink(path) }
        let file = try ArtifactFile(path)
        #expect(file.hash == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(file.sizeBytes == 3)
        #expect(file.name == path.dropFirst("/tmp/".count))
        var piece = ByteBuffer()
        try file.read(at: 1, count: 10, into: &piece)
        #expect(piece.string() == "bc")
        #expect(try file.isUnchanged())
        #expect(truncate(path, 2) == 0)
        #expect(try !file.isUnchanged())
    }

    @Test(arguments: ["/nowhere/lib.so", "/tmp"])
    func whatIsNoLibrary(path: String) {
        #expect { try ArtifactFile(path) } throws: { "\($0)".contains(path) }
    }
}
