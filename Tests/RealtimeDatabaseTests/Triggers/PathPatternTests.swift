import Testing
import Tree

@testable import RealtimeDatabase

@Suite("PathPattern")
struct PathPatternTests {
    struct Match: Sendable, CustomTestStringConvertible {
        var pattern: String
        var path: String
        /// Nil where the pattern does not stand for the path.
        var params: [String: String]?

        var testDescription: String { "\(pattern) of \(path)" }
    }

    private static let matches: [Match] = [
        Match(pattern: "", path: "/", params: [:]),
        Match(pattern: "/", path: "/", params: [:]),
        Match(pattern: "/", path: "/a", params: nil),
        Match(pattern: "foo", path: "/foo", params: [:]),
        Match(pattern: "//foo///bar/", path: "/foo/bar", params: [:]),
        Match(pattern: "foo", path: "/Foo", params: nil),
        Match(pattern: "foo/{bar}", path: "/foo/x", params: ["bar": "x"]),
        Match(pattern: "foo/{bar}", path: "/foo", params: nil),
        Match(pattern: "foo/{bar}", path: "/foo/x/y", params: nil),
        Match(pattern: "{a}/{b}", path: "/1/2", params: ["a": "1", "b": "2"]),
        Match(pattern: "{a=*}", path: "/x", params: ["a": "x"]),
        Match(pattern: "{a=ab*}/*", path: "/abc/d", params: ["a": "abc"]),
        Match(pattern: "{a=ab*}", path: "/ab", params: ["a": "ab"]),
        Match(pattern: "{a=ab*}", path: "/ba", params: nil),
        Match(pattern: "{a=foo}", path: "/foo", params: ["a": "foo"]),
        Match(pattern: "a*c*e", path: "/abcde", params: [:]),
        Match(pattern: "a*c*e", path: "/ace", params: [:]),
        Match(pattern: "a*c*e", path: "/aec", params: nil),
        Match(pattern: "a*a", path: "/a", params: nil),
        Match(pattern: "logs/**", path: "/logs", params: [:]),
        Match(pattern: "logs/**", path: "/logs/a/b/c", params: [:]),
        Match(pattern: "logs/{rest=**}", path: "/logs/a/b", params: ["rest": "a/b"]),
        Match(pattern: "logs/{rest=**}/end", path: "/logs/a/b/end", params: ["rest": "a/b"]),
        Match(pattern: "logs/{rest=**}/end", path: "/logs/end", params: ["rest": ""]),
        Match(pattern: "logs/{rest=**}/end", path: "/logs/end/more", params: nil),
        Match(pattern: "{a}/{rest=**}/{b=x*}/{c}", path: "/1/2/3/x4/5", params: ["a": "1", "rest": "2/3", "b": "x4", "c": "5"]),
        Match(pattern: "{a}", path: "/50%25", params: ["a": "50%25"]),
        Match(pattern: "{naïve}", path: "/é", params: ["naïve": "é"]),
    ]

    @Test("patterns stand for paths and name their parts", arguments: matches)
    func matchesPath(_ match: Match) throws {
        let pattern = try PathPattern(parsing: match.pattern)
        let path = try Path(parsing: match.path)
        #expect(pattern.matches(path) == (match.params != nil))
        guard let params = match.params else { return }
        #expect(Dictionary(uniqueKeysWithValues: pattern.parameters(in: path).map { ($0.name, $0.value) }) == params)
    }

    @Test(
        "what can match nothing, or in more than one way, is refused with a sentence",
        arguments: [
            ("foo/{}", "a capture needs a name"), ("foo/{=a}", "a capture needs a name"),
            ("foo/{a}-{b}", "braces must hold a whole segment"), ("foo/{b}x", "braces must hold a whole segment"),
            ("foo/x{b}", "braces must hold a whole segment"), ("foo/{b", "braces must hold a whole segment"),
            ("foo/b}", "braces must hold a whole segment"), ("}{", "braces must hold a whole segment"),
            ("{", "braces must hold a whole segment"), ("{a}/{a}", "the name \"a\" stands twice"),
            ("{a}/b/{a=*c}", "the name \"a\" stands twice"), ("**/a/**", "a pattern can have one \"**\" only"),
            ("a/**/{x}", "must be followed by something"), ("**/*", "must be followed by something"),
            ("a/{x=**}/{y=*}/*", "must be followed by something"), ("a**", "must stand for whole segments"),
            ("{x=a**}", "must stand for whole segments"), ("a.b", "matches no key"), ("a/$x", "matches no key"),
            ("{x=a#*}", "matches no key"), ("{x=}", "matches no key"), ("[0]", "matches no key"),
            (Array(repeating: "a", count: 33).joined(separator: "/"), "no path has more than 32"),
        ])
    func refuses(_ text: String, _ sentence: String) {
        let error = #expect(throws: PathPatternError.self) { try PathPattern(parsing: text) }
        #expect(error?.message.contains(sentence) == true, "\(error?.message ?? "nothing")")
    }

    @Test("instances are names, globs or captures")
    func instances() throws {
        #expect(InstancePattern.any.matches("demo"))
        #expect(try InstancePattern(parsing: "*").matches("demo"))
        #expect(try InstancePattern(parsing: "demo").matches("demo"))
        #expect(try !InstancePattern(parsing: "demo").matches("demo-2"))
        #expect(try InstancePattern(parsing: "demo-*").matches("demo-2"))
        #expect(try InstancePattern(parsing: "{name=demo-*}").parameter(in: "demo-2") == EventParameter(name: "name", value: "demo-2"))
        for text in ["", "a/b", "**", "{}", "{a}{b}"] {
            #expect(throws: PathPatternError.self, "\(text)") { try InstancePattern(parsing: text) }
        }
        let instance = try InstancePattern(parsing: "{name}")
        let pattern = try PathPattern(parsing: "a/{name}")
        #expect(throws: PathPatternError.self) { try TriggerDeclaration(function: "f", kind: .written, pattern: pattern, instance: instance) }
    }

    @Test("a table finds the functions of a namespace, and shares what is the same")
    func tables() throws {
        let pattern = try PathPattern(parsing: "a")
        let table = TriggerTable([
            try TriggerDeclaration(function: "all", kind: .written, pattern: pattern),
            try TriggerDeclaration(function: "one", kind: .written, pattern: pattern, instance: InstancePattern(parsing: "one")),
            try TriggerDeclaration(function: "demos", kind: .written, pattern: pattern, instance: InstancePattern(parsing: "demo-*")),
        ])
        func functions(_ name: String) -> [String]? { table.matcher(forNamespace: name)?.trie.declarations.map(\.function) }
        #expect(functions("one") == ["all", "one"])
        #expect(functions("demo-1") == ["all", "demos"])
        #expect(table.matcher(forNamespace: "demo-1") === table.matcher(forNamespace: "demo-2"))
        #expect(table.matcher(forNamespace: "other") !== table.matcher(forNamespace: "one"))
        #expect(TriggerTable([]).matcher(forNamespace: "one") == nil)
    }

    @Test("kinds have the names of both generations")
    func kinds() {
        #expect(TriggerKind(eventType: "google.firebase.database.ref.v1.created") == .created)
        #expect(TriggerKind(eventType: "providers/google.firebase.database/eventTypes/ref.write") == .written)
        #expect(TriggerKind(eventType: "google.cloud.storage.object.v1.finalized") == nil)
    }
}
