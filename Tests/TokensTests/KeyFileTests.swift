import Glibc
import Testing

@testable import Tokens

/// Keys in a file, which is looked at again.
@Suite struct KeyFileTests {
    /// Runs `body` with the path of a file that holds `text`.
    private func withFile(_ text: String, _ body: (String) async throws -> Void) async throws {
        var name = Array("/tmp/hearth-keys-XXXXXX".utf8CString)
        let descriptor = mkstemp(&name)
        close(descriptor)
        let path = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer { unlink(path) }
        try write(text, to: path)
        try await body(path)
    }

    private func write(_ text: String, to path: String) throws {
        let file = try #require(fopen(path, "w"))
        fputs(text, file)
        fclose(file)
    }

    @Test func readsEitherFormat() async throws {
        try await withFile(try keySet(.first)) { path in try await KeySet(source: .file(path)).load() }
        let certificate = try SigningKey.first.certificate().replacing("\n", with: "\\n")
        try await withFile("{\"first\":\"\(certificate)\"}") { path in try await KeySet(source: .file(path)).load() }
    }

    @Test func seesThatTheFileHasChanged() async throws {
        let clock = FakeClock()
        try await withFile(try keySet(.first)) { path in
            let keys = KeySet(source: .file(path), clock: clock.clock)
            #expect((try? await keys.key("first").get()) != nil)
            try write(try keySet(.second), to: path)
            #expect((try? await keys.key("second").get()) != nil)
            try write(try keySet(.first), to: path)
            clock.advance(60)
            #expect((try? await keys.key("second").get()) == nil)
        }
    }

    @Test func namesTheFileThatCannotBeRead() async throws {
        await #expect(throws: KeyFetchError("Keys from /nowhere/keys.json: The file cannot be read: No such file or directory.")) {
            try await KeySet(source: .file("/nowhere/keys.json")).load()
        }
        await #expect(throws: KeyFetchError("Keys from /tmp: The file cannot be read: Is a directory.")) {
            try await KeySet(source: .file("/tmp")).load()
        }
    }

    @Test func refusesAFileWithoutEnd() async throws {
        await #expect(throws: KeyFetchError.self) { try await KeySet(source: .file("/dev/zero")).load() }
    }
}
