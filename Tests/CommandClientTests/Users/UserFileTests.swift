import HearthJSON
import Testing

@testable import CommandClient

@Suite struct UserFileTests {
    private func read(_ text: String, _ format: UserFileFormat) throws(UserFileError) -> [UserRow] {
        var reader = UserFileReader(format)
        reader.append(Array(text.utf8).span)
        reader.finish()
        var rows: [UserRow] = []
        while let row = try reader.next() { rows.append(row) }
        return rows
    }

    @Test func usersAreFoundAmongOtherMembers() throws {
        let rows = try read(#"{"a": {"users": [1]}, "b": "]}\"", "users": [{"localId": "x"}, {"localId": "y"}], "c": [[]]}"#, .json)
        #expect(try rows.map { try $0.content.get()["localId"] } == ["x", "y"])
    }

    @Test func timesHaveTheNamesOfTheTools() throws {
        let rows = try read(#"[{"localId": "x", "lastSignedInAt": "7", "email": null}]"#, .json)
        #expect(try rows.first?.content.get() == ["localId": "x", "lastLoginAt": "7"])
    }

    @Test func aRowThatIsNoJSONIsNamed() throws {
        let rows = try read("[{\"localId\": \"x\"},\n{\"localId\": x}]", .json)
        #expect(rows.map(\.line) == [1, 2])
        guard case .failure(let fault) = rows[1].content else {
            Issue.record("it was read")
            return
        }
        #expect(fault.description == "it is not JSON (unexpected character)")
    }

    @Test(arguments: [
        ("", "1: the file is empty"), ("{", "1: the file ends before the list of users is complete"), ("{}", "1: the file has no member users"),
        ("[\n[", "2: a user must be an object, which begins with {"), ("[{}{}]", "1: a comma or the end of the list of users is missing here"),
        ("{\"a\" 1}", "1: a colon is missing here"), ("[]]", "1: there is more text after the users"), ("{1}", "1: a name in quotes is missing here"),
    ])
    func filesThatAreNoJSON(_ text: String, _ said: String) {
        #expect { try read(text, .json) } throws: { "\($0)" == said }
    }

    @Test func recordsMayHaveQuotesAndLines() throws {
        let rows = try read("a,,,,,\"x \"\"y\"\"\nz\"\r\n\nb\n", .csv)
        #expect(rows.map(\.line) == [1, 4])
        #expect(try rows[0].content.get()["displayName"] == "x \"y\"\nz")
    }

    @Test func aColumnTooMany() throws {
        let rows = try read("a" + String(repeating: ",x", count: 28), .csv)
        guard case .failure(let fault)? = rows.first?.content else {
            Issue.record("it was read")
            return
        }
        #expect(fault == UserRowFault("there are 29 columns instead of 28", uid: "a"))
    }

    @Test func theHashOfAHostIsReadAsItsParts() {
        // "$scrypt$ln=15,r=8,p=1$c2FsdHNhbHRzYWx0c2FsdA$" and 32 bytes, in Base64.
        let text = "$scrypt$ln=15,r=8,p=1$c2FsdHNhbHRzYWx0c2FsdA$MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY"
        let password = ExportedPassword(of: ["passwordHash": .string(Self.base64(text)), "salt": ""])
        #expect(password?.scrypt?.options.hasSuffix("--mem-cost 32768 --block-size 8 --parallelization 1 --dk-len 32") == true)
        #expect(password?.salt == "c2FsdHNhbHRzYWx0c2FsdA==")
        #expect(password?.hash == "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=")
    }

    @Test func theHashOfAnotherSystemKeepsItsParameters() {
        let password = ExportedPassword(of: [
            "passwordHash": "aGFzaA", "salt": "c2FsdA", "passwordHashParameters": ["hashAlgorithm": "PBKDF2_SHA256", "rounds": 100],
        ])
        #expect(password != nil && password?.scrypt == nil)
        #expect(password?.parameters == ["hashAlgorithm": "PBKDF2_SHA256", "rounds": 100])
        #expect(ExportedPassword(of: ["passwordHash": "not base64!"]) == nil)
        #expect(ExportedPassword(of: ["passwordHash": .string(Self.base64("$scrypt$ln=99,r=8,p=1$c2FsdA$aGFzaA"))]) == nil)
    }

    private static func base64(_ text: String) -> String { FileBase64.normal(FileBase64Text.encoded(text)) ?? "" }
}

/// Base64 of texts, for tests.
private enum FileBase64Text {
    static func encoded(_ text: String) -> String {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
        var result = ""
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            for position in 0...group.count { result.append(letters[bits >> (18 - 6 * position) & 63]) }
        }
        return result
    }
}
