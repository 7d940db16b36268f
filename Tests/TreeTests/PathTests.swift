import Testing
import Tree

@Suite struct PathTests {
    @Test(arguments: [
        ("", []), ("/", []), ("///", []), ("a", ["a"]), ("/a/b", ["a", "b"]), ("//a///b/", ["a", "b"]), ("a b/é/😀", ["a b", "é", "😀"]),
        ("a+b", ["a+b"]), ("%41", ["%41"]), ("-1/0", ["-1", "0"]),
    ] as [(String, [String])])
    func pathsAreRead(_ text: String, _ segments: [String]) throws {
        #expect(try Path(parsing: text) == Path(segments))
    }

    @Test(arguments: [
        ("/a%20b/c%C3%A9", ["a b", "cé"]), ("a%2Fb", ["a", "b"]), ("%41", ["A"]), ("a+b", ["a+b"]), ("%2541", ["%41"]), ("😀", ["😀"]),
    ] as [(String, [String])])
    func escapesAreResolved(_ text: String, _ segments: [String]) throws {
        #expect(try Path(parsing: Array(text.utf8).span, percentEncoded: true) == Path(segments))
    }

    @Test(arguments: ["a$b", "a#b", "a[b", "a]b", "a.b", ".priority", "a\u{1}b", "a\u{7F}b", "a/b.c/d", ".", "..", "\u{0}"])
    func forbiddenCharactersAreRefused(_ text: String) {
        #expect(throws: PathError(kind: .invalidToken)) { try Path(parsing: text) }
        #expect(!Path.isValid(key: text))
    }

    @Test(arguments: ["a%5Bb", "a%01b", "%", "%4", "a%zz", "%FF", "%C3", "%ED%A0%80", "a%2Eb"])
    func badEscapesAreRefused(_ text: String) {
        #expect(throws: PathError(kind: .invalidToken)) { try Path(parsing: Array(text.utf8).span, percentEncoded: true) }
    }

    @Test func bytesThatAreNotUTF8AreRefused() {
        for bytes: [UInt8] in [[0xFF], [0x61, 0xC3], [0xED, 0xA0, 0x80]] {
            #expect(throws: PathError(kind: .invalidToken)) { try Path(parsing: bytes.span) }
        }
    }

    @Test func lengthsAndDepthAreLimited() throws {
        #expect(try Path(parsing: String(repeating: "k", count: 768)).count == 1)
        #expect(throws: PathError(kind: .keyTooLong)) { try Path(parsing: String(repeating: "k", count: 769)) }
        #expect(throws: PathError(kind: .keyTooLong)) { try Path(parsing: String(repeating: "é", count: 385)) }
        #expect(try Path(parsing: String(repeating: "/k", count: 32)).count == 32)
        #expect(throws: PathError(kind: .tooDeep)) { try Path(parsing: String(repeating: "/k", count: 33)) }
        #expect(Path.isValid(key: String(repeating: "k", count: 768)) && !Path.isValid(key: String(repeating: "k", count: 769)))
        #expect(!Path.isValid(key: "") && !Path.isValid(key: "a/b"))
    }

    @Test func theMessageIsThatOfTheService() {
        #expect(PathError(kind: .invalidToken).message == "Invalid path: Invalid token in path")
    }

    @Test(arguments: [
        (".priority", "/", true), ("/a/.priority", "/a", true), ("a/.priority/", "/a", true), ("a/b", "/a/b", false), ("", "/", false),
        ("a%2F.priority", "/a", true),
    ])
    func prioritiesAreAddressed(_ text: String, _ path: String, _ isPriority: Bool) throws {
        let location = try Location(parsing: Array(text.utf8).span, percentEncoded: true)
        #expect(location.path.description == path && location.isPriority == isPriority)
    }

    @Test(arguments: ["a.priority", ".priority/a", "a/.priority/.priority", ".value", "a/.sv"])
    func otherVirtualKeysAreRefused(_ text: String) {
        #expect(throws: PathError(kind: .invalidToken)) { try Location(parsing: Array(text.utf8).span) }
    }

    @Test func pathsAreTakenApart() throws {
        let path = try Path(parsing: "a/b/c")
        #expect(path.count == 3 && path.last == "c" && path.parent?.description == "/a/b")
        #expect(Path.root.isRoot && Path.root.parent == nil && Path.root.last == nil && Path.root.description == "/")
        #expect(path.relative(to: Path(["a"])) == Path(["b", "c"]))
        #expect(path.relative(to: path) == .root && path.relative(to: .root) == path && path.relative(to: Path(["b"])) == nil)
        #expect(Path(["a"]).appending(Path(["b", "c"])) == path && Path.root.appending("a").appending("b").appending("c") == path)
        #expect(Path(["a"]).contains(path) && path.contains(path) && !path.contains(Path(["a"])) && !Path(["ab"]).contains(path))
        #expect(Set([path, Path(["a", "b", "c"]), .root]).count == 2)
    }
}
