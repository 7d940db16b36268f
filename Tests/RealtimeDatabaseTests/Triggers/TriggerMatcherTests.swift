import HearthBytes
import HearthJSON
import Testing
import Tree

@testable import RealtimeDatabase

/// The table of spec functions 8.3, row by row, and what matching costs.
@Suite("TriggerMatcher")
struct TriggerMatcherTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var pattern: String
        var old: String
        /// Path and new value; several are one update.
        var writes: [(String, String)]
        /// `path change`.
        var events: [String]

        var testDescription: String { "\(pattern): \(writes) to \(old)" }

        init(_ pattern: String, _ old: String, _ writes: [(String, String)], _ events: [String]) {
            self.pattern = pattern
            self.old = old
            self.writes = writes
            self.events = events
        }
    }

    private static let rows: [Row] = [
        // Below, at and above the pattern's path.
        Row("p", "null", [("p/x/y", "1")], ["/p created"]),
        Row("p", #"{"p":{"x":{"y":1}}}"#, [("p/x/y", "2")], ["/p updated"]),
        Row("p", #"{"p":{"x":{"y":1}}}"#, [("p/x/y", "null")], ["/p deleted"]),
        Row("p", #"{"p":{"x":{"y":1},"z":1}}"#, [("p/x/y", "null")], ["/p updated"]),
        Row("p", "null", [("p", "0")], ["/p created"]),
        Row("p", #"{"p":0}"#, [("p", "false")], ["/p updated"]),
        Row("p", #"{"p":""}"#, [("p", "null")], ["/p deleted"]),
        Row(
            "foo/{bar}", #"{"foo":{"a":1,"b":2,"c":3}}"#, [("foo", #"{"a":1,"b":9,"d":4}"#)],
            ["/foo/b updated", "/foo/c deleted", "/foo/d created"]),
        Row(
            "users/{u}/name", #"{"users":{"a":{"name":1},"b":{"name":2}}}"#,
            [("", #"{"users":{"a":{"name":1,"age":3},"b":{"name":3},"c":{"age":1}}}"#)], ["/users/b/name updated"]),
        Row("", "null", [("a/b", "1")], ["/ created"]),
        Row("/", #"{"a":1}"#, [("", "null")], ["/ deleted"]),
        // Nothing changes.
        Row("p", #"{"p":{"x":1}}"#, [("p", #"{"x":1}"#)], []),
        Row("p", #"{"p":{"x":1}}"#, [("p/x", "1")], []),
        Row("p", #"{"p":1}"#, [("p/x", "null")], []),
        Row("p", "null", [("p", "{}")], []),
        Row("p", #"{"p":1}"#, [("p", #"{".value":1,".priority":2}"#)], []),
        Row("p", #"{"p":{"x":1,".priority":3}}"#, [("p", #"{"x":1}"#)], []),
        Row("p/x", #"{"p":{"x":1}}"#, [("p/y", "1")], []),
        // Leaves and maps.
        Row("p", #"{"p":1}"#, [("p/x", "1")], ["/p updated"]),
        Row("p/{k}", #"{"p":1}"#, [("p/x", "1")], ["/p/x created"]),
        Row("p/{k}", #"{"p":{"x":1}}"#, [("p", "1")], ["/p/x deleted"]),
        Row("p/{k}/z", #"{"p":{"x":{"z":1}}}"#, [("p/x", "1")], ["/p/x/z deleted"]),
        // An array emptied together with a change beside it (firebase-functions#42).
        Row("p/list", #"{"p":{"list":[1,2],"n":1}}"#, [("p", #"{"n":2}"#)], ["/p/list deleted"]),
        // Several paths at once: one event for each path, on the result of all.
        Row("p", #"{"p":{"a":1,"b":2}}"#, [("p/a", "2"), ("p/b", "3")], ["/p updated"]),
        Row("p", #"{"p":{"a":1,"b":2}}"#, [("p/a", "null"), ("p/b", "null")], ["/p deleted"]),
        Row("p/{k}", #"{"p":{"a":1,"b":2}}"#, [("p/a", "null"), ("p/b/c", "1"), ("q", "1")], ["/p/a deleted", "/p/b updated"]),
        Row("p/{k}", #"{"p":{"a":{"x":1,"y":1}}}"#, [("p/a/x", "2"), ("p/a/y", "2")], ["/p/a updated"]),
        // Several segments: the written path if it matches, else the uppermost.
        Row("logs/**", "null", [("logs/a/b", "1")], ["/logs/a/b created"]),
        Row("logs/**", "null", [("", #"{"logs":{"a":{"b":1},"c":1}}"#)], ["/logs created"]),
        Row(
            "logs/{r=**}/end", "null", [("logs", #"{"a":{"end":{"end":1}},"b":{"c":{"end":2}}}"#)],
            ["/logs/a/end created", "/logs/b/c/end created"]),
        Row("logs/{r=**}/end", #"{"logs":{"a":{"end":{"x":1}}}}"#, [("logs/a/end/x", "2")], ["/logs/a/end updated"]),
        Row("logs/{r=**}/end", "null", [("logs/end/end/x", "2")], ["/logs/end created"]),
    ]

    @Test("which events fire", arguments: rows)
    func fires(_ row: Row) throws {
        let declaration = try TriggerDeclaration(function: "f", kind: .written, pattern: PathPattern(parsing: row.pattern))
        let tree = try TestTree(Self.node(row.old))
        let changes = try row.writes.map { (path: try Path(parsing: $0.0), node: try Self.node($0.1)) }
        let found = try tree.write(changes, TriggerMatcher([declaration]))
        #expect(found.map { "\($0.path) \($0.change)" }.sorted() == row.events.sorted())
    }

    @Test("each kind runs for its change, and overlapping functions each have their own")
    func kinds() throws {
        let patterns = ["foo/{a}", "foo/{a}/b"]
        let declarations = try patterns.flatMap { pattern in
            try TriggerKind.ofValues.map { try TriggerDeclaration(function: "\($0) \(pattern)", kind: $0, pattern: PathPattern(parsing: pattern)) }
        }
        let tree = try TestTree()
        let matcher = TriggerMatcher(declarations)
        func functions(_ path: String, _ json: String) throws -> [String] {
            try tree.write([(try Path(parsing: path), try Self.node(json))], matcher).map(\.function).sorted()
        }
        #expect(try functions("foo/x", #"{"b":1}"#) == ["created foo/{a}", "created foo/{a}/b", "written foo/{a}", "written foo/{a}/b"])
        #expect(try functions("foo/x/b", "2") == ["updated foo/{a}", "updated foo/{a}/b", "written foo/{a}", "written foo/{a}/b"])
        #expect(try functions("foo/x/c", "2") == ["updated foo/{a}", "written foo/{a}"])
        #expect(try functions("foo", "null") == ["deleted foo/{a}", "deleted foo/{a}/b", "written foo/{a}", "written foo/{a}/b"])
    }

    @Test("time grows with the write and not with the number of functions")
    func costsByTheWrite() throws {
        func cost(functions count: Int) throws -> MatchCost {
            var declarations = try ["messages/{id}/text", "{any}", "m*/x"].map {
                try TriggerDeclaration(function: $0, kind: .written, pattern: PathPattern(parsing: $0))
            }
            for index in 0..<count {
                let texts = [
                    "other\(index)/{id}", "messages/{id}/field\(index)", "glob\(index)*/x", "messages/x\(index)*/text", "**/tail\(index)",
                ]
                let text = texts[index % 5]
                declarations.append(try TriggerDeclaration(function: "f\(index)", kind: .written, pattern: PathPattern(parsing: text)))
            }
            let tree = try TestTree(Self.node(#"{"messages":{"1":{"text":"a","more":{"x":1}}}}"#))
            let write = [(path: try Path(parsing: "messages"), node: try Self.node(#"{"1":{"text":"b"},"2":{"text":"c"}}"#))]
            return try tree.find(write, TriggerMatcher(declarations)).cost
        }
        let few = try cost(functions: 5)
        #expect(try cost(functions: 50) == few)
        #expect(try cost(functions: 20_000) == few)
        #expect(few.events == 3)
    }

    @Test("a write with few children looks up few of many named ones, and many children cost little where few are named")
    func jumpsBetweenNames() throws {
        let declarations = try (0..<5000).map {
            try TriggerDeclaration(function: "f\($0)", kind: .written, pattern: PathPattern(parsing: "a/k\($0)"))
        }
        let tree = try TestTree()
        let narrow = [(path: try Path(parsing: "a"), node: try Self.node(#"{"k7":1,"k4000":1,"other":1}"#))]
        let found = try tree.find(narrow, TriggerMatcher(declarations))
        #expect(found.events.map(\.function).sorted() == ["f4000", "f7"])
        #expect(found.cost.visitedNodes < 10)
        let wide = Node(unsorted: (0..<5000).map { Node.Child(key: "k\($0)", node: Node(.integer(1))) })
        let one = try tree.find([(try Path(parsing: "a"), wide)], TriggerMatcher([declarations[77]]))
        #expect(one.events.map(\.function) == ["f77"])
        #expect(one.cost.visitedNodes < 10)
    }

    @Test("more events than allowed, and larger ones, refuse the write when that is asked for")
    func limits() throws {
        let declarations = try ["a/{k}", "a/{k}/s"].map { try TriggerDeclaration(function: $0, kind: .written, pattern: PathPattern(parsing: $0)) }
        let matcher = TriggerMatcher(declarations)
        let tree = try TestTree()
        let many = Node(unsorted: (0..<11).map { Node.Child(key: "\($0)", node: Node(.integer(1))) })
        let path = try Path(parsing: "a")
        func refusal(_ node: Node, _ limits: TriggerLimits) throws -> TriggerRefusal? {
            do { _ = try tree.find([(path, node)], matcher, limits) } catch TriggerMatcher.Failure.refused(let refusal) { return refusal }
            return nil
        }
        #expect(try refusal(many, TriggerLimits(functionsMax: 10)) == .tooManyFunctions)
        #expect(try refusal(many, TriggerLimits(functionsMax: 11)) == nil)
        #expect(try refusal(many, TriggerLimits(functionsMax: 10, isStrict: false)) == nil)
        let large = try Self.node(#"{"k":{"s":"0123456789"}}"#)
        #expect(try refusal(large, TriggerLimits(eventBytesMax: 20)) == .eventTooLarge)
        #expect(try refusal(large, TriggerLimits(eventBytesMax: 22)) == nil)
        let found = try tree.find([(path, large)], matcher, TriggerLimits(eventBytesMax: 16, isStrict: false)).events
        #expect(found.map(\.payload) == [#"{"truncated":true}"#, #"{"before":null,"after":"0123456789"}"#])
        #expect(TriggerRefusal.tooManyFunctions.message == "This request would cause too many functions to be triggered.")
    }

    @Test("the size of an event counts the old value and what changed")
    func deltaSize() throws {
        let matcher = TriggerMatcher([try TriggerDeclaration(function: "f", kind: .written, pattern: PathPattern(parsing: "a"))])
        let tree = try TestTree(Self.node(#"{"a":{"s":"\#(String(repeating: "x", count: 1000))","n":1}}"#))
        let write = [(path: try Path(parsing: "a/n"), node: Node(.integer(2)))]
        #expect(try tree.find(write, matcher, TriggerLimits(eventBytesMax: 1100)).events.count == 1)
        #expect(throws: TriggerMatcher.Failure.self) { try tree.find(write, matcher, TriggerLimits(eventBytesMax: 1000)) }
        let removal = [(path: try Path(parsing: "a"), node: try Self.node(#"{"n":1}"#))]
        #expect(try tree.find(removal, matcher, TriggerLimits(eventBytesMax: 1100)).events.count == 1)
    }

    @Test("canonically equal keys are two keys")
    func exactKeys() throws {
        let composed = "caf\u{E9}"
        let decomposed = "cafe\u{301}"
        let declarations = try [composed, decomposed].enumerated().map {
            try TriggerDeclaration(function: "f\($0.offset)", kind: .written, pattern: PathPattern(parsing: $0.element))
        }
        let tree = try TestTree()
        let write = [(path: Path([decomposed]), node: Node(.integer(1)))]
        #expect(try tree.find(write, TriggerMatcher(declarations)).events.map(\.function) == ["f1"])
    }

    static func node(_ json: String) throws -> Node { try Node(json: JSONValue(parsing: json)) }
}
