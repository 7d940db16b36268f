import Testing
import Tree

@Suite struct UpdateDraftTests {
    private func read(_ text: String, depthAbove: Int = 0) throws(NodeError) -> UpdateDraft {
        try UpdateDraft(parsing: Array(text.utf8).span, limits: DraftLimits(depthAbove: depthAbove))
    }

    private func shown(_ members: [(path: Path, draft: Draft)]) -> [String] { members.map { "\($0.path) \($0.draft.node.text(.export))" } }

    @Test(arguments: [
        ("{}", []), (#"{"a":1,"b":null}"#, ["/a 1", "/b null"]), (#"{"users/u1/n":"A","idx/A":"u1"}"#, ["/users/u1/n \"A\"", "/idx/A \"u1\""]),
        (#" { "/a/b/" : { "c" : [1] } , "a//c" : 2 } "#, ["/a/b {\"c\":{\"0\":1}}", "/a/c 2"]),
        (#"{"a":1,"ab":2,"a b":3}"#, ["/a 1", "/ab 2", "/a b 3"]),
        (#"{"a\/b":1}"#, ["/a/b 1"]),
    ] as [(String, [String])])
    func membersAreRead(_ text: String, _ expected: [String]) throws {
        let update = try read(text)
        #expect(shown(update.members) == expected && update.priorities.isEmpty && update.isEmpty == expected.isEmpty)
    }

    @Test func serverValuesBelongToTheirMember() throws {
        let update = try read(#"{"a":{".sv":{"increment":1}},"b/c":{"d":{".sv":"timestamp"}},"e":5}"#)
        #expect(update.members.map { $0.draft.serverValues.map(\.path) } == [[.root], [Path(["d"])], []])
        #expect(update.members.map(\.draft.leafCount) == [1, 1, 1])
    }

    @Test func prioritiesAreApart() throws {
        let update = try read(
            #"{".priority":1,"a/.priority":"p","b/c/.priority":null,"d":{".sv":"timestamp"},"e/.priority":{".sv":"timestamp"}}"#)
        #expect(shown(update.priorities) == ["/ 1", "/a \"p\"", "/b/c null", "/e 0"] && shown(update.members) == ["/d 0"])
        #expect(update.priorities[3].draft.serverValues.count == 1)
        #expect(throws: NodeError(kind: .badPriority)) { try read(#"{"a/.priority":true}"#) }
        #expect(throws: NodeError(kind: .badPriority)) { try read(#"{"a/.priority":{"b":1}}"#) }
    }

    @Test(arguments: [
        (#"{"a":{"b":1},"a/b":2}"#, "/a", "/a/b"), (#"{"a/b":2,"a":{"b":1}}"#, "/a", "/a/b"), (#"{"a/":1,"/a":2}"#, "/a", "/a"),
        (#"{"a":1,"a":2}"#, "/a", "/a"),
        (#"{"a":1,"ab":1,"a-":1,"a/x/y":1,"b":1}"#, "/a", "/a/x/y"), (#"{"a":1,"a/.priority":1}"#, "/a", "/a/.priority"),
    ])
    func pathsThatContainEachOtherAreRefused(_ text: String, _ one: String, _ other: String) {
        #expect(throws: NodeError(kind: .conflictingPaths(one, other))) { try read(text) }
    }

    @Test(arguments: [
        ("[1]", "Invalid data; couldn't parse JSON object. Are you sending a JSON object with valid key names?"),
        ("5", "Invalid data; couldn't parse JSON object. Are you sending a JSON object with valid key names?"),
        ("null", "Invalid data; couldn't parse JSON object. Are you sending a JSON object with valid key names?"),
        ("", "Error: No data supplied."), ("[1", "Invalid data; couldn't parse JSON object, array, or value."),
        (#"{"a":1"#, "Invalid data; couldn't parse JSON object, array, or value."),
        (#"{"a":1}}"#, "Invalid data; couldn't parse JSON object, array, or value."),
        (#"{"a" 1}"#, "Invalid data; couldn't parse JSON object, array, or value."),
        (#"{"a":1,}"#, "Invalid data; couldn't parse JSON object, array, or value."),
        (#"{"":1}"#, "Invalid data; couldn't parse key beginning at 1:2. Key value can't be empty or contain $ # [ ] / or ."),
        (#"{"a":1,"/":1}"#, "Invalid data; couldn't parse key beginning at 1:8. Key value can't be empty or contain $ # [ ] / or ."),
        (#"{"a/b.c":1}"#, "Invalid data; couldn't parse key beginning at 1:2. Key value can't be empty or contain $ # [ ] / or ."),
        (#"{".value":1}"#, "Invalid data; couldn't parse key beginning at 1:2. Key value can't be empty or contain $ # [ ] / or ."),
        (#"{"a":{"b/c":1}}"#, "Invalid data; couldn't parse key beginning at 1:7. Key value can't be empty or contain $ # [ ] / or ."),
    ])
    func badBodiesAreRefused(_ text: String, _ message: String) {
        #expect { try read(text) } throws: { ($0 as? NodeError)?.message == message }
    }

    @Test func depthCountsFromTheRoot() throws {
        #expect(try read(#"{"a/b":1}"#, depthAbove: 30).members.count == 1)
        #expect(throws: NodeError(kind: .tooDeep(levelsMax: 32))) { try read(#"{"a/b/c":1}"#, depthAbove: 30) }
        #expect(throws: NodeError(kind: .tooDeep(levelsMax: 32))) { try read(#"{"a/b":{"c":1}}"#, depthAbove: 30) }
    }
}
