import Files
import Testing

@Suite struct WholeFileTests {
    @Test func readsUpToABound() throws {
        try withFolder { folder throws in
            let text = String(repeating: "0123456789", count: 20_000)
            write(text, to: "\(folder)/a")
            #expect(try WholeFile.readText("\(folder)/a", sizeBytesMax: text.utf8.count) == text)
            let failure = #expect(throws: FileFailure.self) { try WholeFile.read("\(folder)/a", sizeBytesMax: text.utf8.count - 1) }
            #expect(failure?.description == "has more than 199999 bytes")
            #expect(throws: FileFailure.self) { try WholeFile.readIfAny("/dev/zero", sizeBytesMax: 10) }
        }
    }

    @Test func saysWhatIsNotThere() throws {
        try withFolder { folder throws in
            write("", to: "\(folder)/empty")
            #expect(try WholeFile.readIfAny("\(folder)/empty", sizeBytesMax: 10) == [])
            for missing in ["\(folder)/none", "\(folder)/empty/below"] {
                #expect(try WholeFile.readIfAny(missing, sizeBytesMax: 10) == nil)
                let failure = #expect(throws: FileFailure.self) { try WholeFile.read(missing, sizeBytesMax: 10) }
                #expect(failure?.isMissing == true)
            }
            let failure = #expect(throws: FileFailure.self) { try WholeFile.readIfAny(folder, sizeBytesMax: 10) }
            #expect(failure?.description == "cannot be read: Is a directory")
        }
    }

    @Test(arguments: [("a/b", "a"), ("/a", "/"), ("/", "/"), ("a", "."), ("", "."), ("/a/b/", "/a/b")])
    func namesTheFolderOfAPath(_ path: String, _ folder: String) { #expect(Folder.parent(of: path) == folder) }

    @Test func listsAFolder() throws {
        try withFolder { folder throws in
            for name in ["b", ".a", "…"] { write("", to: "\(folder)/\(name)") }
            #expect(Folder.names(in: folder).sorted() == [".a", "b", "…"])
            #expect(Folder.names(in: "\(folder)/none") == [])
        }
    }
}
