import Testing

@testable import Configuration

@Suite struct EnvironmentFileTests {
    private func read(_ text: String, _ kind: EnvironmentFile.Kind = .variables) -> EnvironmentFile {
        EnvironmentFile(Array(text.utf8), file: ".env", kind: kind)
    }

    struct Row: Sendable {
        var text: String
        var values: [String: String]
    }

    @Test(arguments: [
        Row(text: "", values: [:]),
        Row(text: "\n # only a comment\n\t\n", values: [:]),
        Row(text: "A=1", values: ["A": "1"]),
        Row(text: "A=1\r\nB=2\r\n", values: ["A": "1", "B": "2"]),
        Row(text: "\u{FEFF}A=1", values: ["A": "1"]),
        Row(text: "  A = one two  # why\n", values: ["A": "one two"]),
        Row(text: "A=", values: ["A": ""]),
        Row(text: "A=\nB=2", values: ["A": "", "B": "2"]),
        Row(text: "A= # nothing", values: ["A": ""]),
        Row(text: "A=x=y", values: ["A": "x=y"]),
        Row(text: "A=http://x#y", values: ["A": "http://x"]),
        Row(text: "A=it's", values: ["A": "it's"]),
        Row(text: #"A=a\nb"#, values: ["A": #"a\nb"#]),
        Row(text: "export A=1\nexport\tB=2", values: ["A": "1", "B": "2"]),
        Row(text: "A='it is # \"so\" \\n'", values: ["A": "it is # \"so\" \\n"]),
        Row(text: #"A="\n\r\t\v\\\'\"" # end"#, values: ["A": "\n\r\t\u{0B}\\'\""]),
        Row(text: #"A="\q\x""#, values: ["A": #"\q\x"#]),
        Row(text: "A=\"one\ntwo\"\nB=2", values: ["A": "one\ntwo", "B": "2"]),
        Row(text: "A='one\r\ntwo'\nB=2", values: ["A": "one\ntwo", "B": "2"]),
        Row(text: #"A="""#, values: ["A": ""]),
        Row(text: "A=ä🔥", values: ["A": "ä🔥"]),
        Row(text: "_A1=x", values: ["_A1": "x"]),
    ])
    func isRead(_ row: Row) {
        let file = read(row.text)
        #expect(file.problems == [])
        #expect(Dictionary(file.entries.map { ($0.key, $0.value) }) { $1 } == row.values)
    }

    @Test(arguments: [
        ("A", ".env:1:1: expected KEY=value, found a line without ="),
        ("=1", ".env:1:1: expected KEY=value, found a line without a key"),
        ("A B=1", ".env:1:1: expected KEY=value, found a line without ="),
        ("A=1\nb=2\n", #".env:2:1: expected a key of upper-case letters, digits and _ that does not start with a digit, found "b""#),
        ("1A=1", #".env:1:1: expected a key of upper-case letters, digits and _ that does not start with a digit, found "1A""#),
        ("A=\"x\ny", ".env:1:1: the quote that opens the value of A is never closed\n.env:2:1: expected KEY=value, found a line without ="),
        ("A='x' y", ".env:1:1: expected the end of the line after the closing quote of A"),
        ("\nFIREBASE_X=1", ".env:2:1: FIREBASE_X is reserved: no key may start with FIREBASE_"),
        ("X_GOOGLE_A=1", ".env:1:1: X_GOOGLE_A is reserved: no key may start with X_GOOGLE_"),
        ("PORT=1", ".env:1:1: PORT is reserved: the host sets it itself"),
        ("A=\"one\ntwo\nthree\"\nPORT=1", ".env:4:1: PORT is reserved: the host sets it itself"),
    ])
    func isRefused(_ text: String, _ lines: String) {
        #expect(read(text).problems.map(\.description).joined(separator: "\n") == lines)
    }

    @Test func aKeyThatStandsTwiceIsDoubtful() {
        let file = read("A=1\nA=2")
        #expect(file.entries == [EnvironmentFile.Entry(key: "A", value: "2", line: 2, lastLine: 2)])
        #expect(file.warnings.map(\.description) == [".env:2:1: A occurs twice; this value is used, not that of line 1"])
    }

    @Test func secretsMayHaveOtherNamesAndAreNotShown() {
        #expect(read("api-key=1\nAPI_KEY2=2", .secrets).entries.map(\.key) == ["api-key", "API_KEY2"])
        let problems = read("hunter2\nhunter 3=\nhunter.4=x", .secrets).problems
        #expect(problems.count == 3)
        #expect(problems.allSatisfy { !$0.description.contains("hunter") })
    }

    @Test func bytesThatAreNotTextAreRefused() {
        let file = EnvironmentFile([0x41, 0x3D, 0xFF], file: ".env", kind: .variables)
        #expect(file.problems.map(\.description) == [".env:1:3: expected text in UTF-8, found the byte 255"])
    }
}
