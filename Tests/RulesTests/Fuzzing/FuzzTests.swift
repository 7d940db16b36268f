import FuzzSupport
import HearthJSON
import Rules
import Testing
import Tree

/// The corpus of `Tests/Fuzz/Rules`, and texts made of it by chance: whatever is in a document, reading it ends in rules or in an
/// error with a place in the document, and rules are evaluated within their steps.
///
/// A failure names its seed: `HEARTH_FUZZ_SEED=<seed> swift test --filter RulesTests.FuzzTests` runs it again.
/// `HEARTH_FUZZ_ROUNDS` sets how many texts are made.
@Suite struct FuzzTests {
    private static let words = [
        "{", "}", "[", "]", ",", ":", "\"", "null", "true", "false", "\\u0041", "//", "/*", "*/", "\n", "$x", "$key", ".read", ".write", ".validate",
        "\"$y\": {", "\"a\": {", "\".validate\": \"", "auth", "auth.uid", "auth.token", "data", "newData", "root", "now", "query.", ".child(",
        ".parent()",
        ".val()", ".exists()", ".hasChildren([", "'a'", ")", "(", " && ", " || ", " == ", " != ", " < ", " + ", " - ", " % ", " ? ", "!", "1", "0.5",
        ".length", ".replace('a', 'aa')", ".matches(/", "/i)", "(a|b)", "[^a]", "{2,5}", "\\\\d", "^", "$", ".contains(", "['x']", ".getPriority()",
    ]

    private static let limits = {
        var limits = RuleLimits()
        limits.stepsMax = 50_000
        limits.stringBytesMax = 100_000
        return limits
    }()

    private static let trees: [Node] = [
        "null", "5", #""text""#, #"{"a": {"a": {"a": true}, "b": {"c": "x"}}, "roles": {"u1": "admin"}, "w": {"color": "red", "size": 3}}"#,
        #"{".value": "v", ".priority": 3}"#, #"{"rooms": {"r": {"members": {"u1": "rw"}, "msgs": {"m": {"by": "u1", "t": "hi"}}}}}"#,
    ].compactMap { try? Node(json: JSONValue(parsing: $0)) }

    private static let contexts = [
        RuleContext(auth: nil, now: 5),
        RuleContext(auth: ["uid": "u1", "provider": "x", "token": ["email": "a@x", "x": ["a", 1], "length": 3]], now: 1_000_000),
    ]

    private static let paths = [Path.root, Path(["a"]), Path(["a", "b", "c"]), Path(["rooms", "r", "msgs", "m"]), Path(["w", "size"])]

    @Test(arguments: ["documents", "expressions"])
    func everythingHolds(_ kind: String) throws {
        let corpus = try FuzzCorpus.load("Rules/corpus/\(kind)")
        #expect(corpus.count > 10)
        let run = FuzzRun(corpus, words: Self.words, rounds: 1000)
        #expect(run.complaint { kind == "documents" ? document($0) : expression($0) } == nil)
    }

    private func expression(_ text: [UInt8]) -> String? {
        let expression = JSONValue.string(String(decoding: text, as: UTF8.self)).description
        return [".read", ".write", ".validate"].lazy
            .compactMap { document(Array("{\"rules\": {\".write\": true, \"$key\": {\"\($0)\": \(expression)}}}".utf8)) }.first
    }

    private func document(_ text: [UInt8]) -> String? {
        do throws(RulesError) {
            let rules = try RuleSet(parsing: text, limits: Self.limits)
            return self.complaint(rules, seed: text.count)
        } catch {
            if error.text.isEmpty { return "refused without a reason" }
            let lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            guard (1...lines.count).contains(error.line) else { return "no such line: \(error)" }
            guard (1...lines[error.line - 1].count + 1).contains(error.column) else { return "no such column: \(error)" }
            return nil
        }
    }

    /// Evaluates the rules over two of the trees, which depend on `seed`.
    private func complaint(_ rules: RuleSet, seed: Int) -> String? {
        guard let again = try? RuleSet(parsing: rules.strictJSON(), limits: Self.limits) else { return "its strict form is refused" }
        guard (try? JSONValue(parsing: rules.strictJSON())) != nil else { return "its strict form is not JSON" }
        guard again.strictJSON() == rules.strictJSON() else { return "its strict form is not" }
        guard again.indexDefinitions == rules.indexDefinitions else { return "its strict form has other indexes" }
        for tree in [Self.trees[seed % Self.trees.count], Self.trees[(seed + 3) % Self.trees.count]] {
            for context in Self.contexts {
                for path in Self.paths {
                    if let complaint = complaint(rules, again, tree, context, path) { return complaint }
                }
            }
        }
        return nil
    }

    private func complaint(_ rules: RuleSet, _ again: RuleSet, _ tree: Node, _ context: RuleContext, _ path: Path) -> String? {
        let query = Query(order: .child(Path(["a", "b"])), start: .startAt(.string("u1")), end: .endAt(.string("u1")), limit: 3)
        let data = NodeData(tree)
        let value = Self.trees[3]
        let new = NodeData(tree.setting(value, at: path))
        var verdicts: [[RuleVerdict]] = []
        for (set, explains) in [(rules, false), (rules, true), (again, false)] {
            verdicts.append([
                set.read(path, query: nil, context: context, data: data, explains: explains),
                set.read(path, query: query, context: context, data: data, explains: explains),
                set.write(path, value: value, context: context, old: data, new: new, explains: explains),
                set.write(
                    path, value: .empty, context: context, old: data, new: NodeData(tree.setting(.empty, at: path)), explains: explains),
            ])
        }
        for index in verdicts[0].indices {
            let (plain, explained) = (verdicts[0][index], verdicts[1][index])
            if plain.isAllowed != verdicts[2][index].isAllowed { return "its strict form says otherwise of \(path)" }
            if plain.isAllowed && plain.isOverBudget { return "allowed over budget" }
            guard let trace = explained.trace else { return "not explained" }
            // An explanation lists every refusal, which may take it over its budget.
            if plain.isAllowed != explained.isAllowed { return "explained otherwise: \(trace)" }
            if trace.isAllowed != explained.isAllowed { return "its explanation contradicts it: \(trace)" }
            if trace.sentence.isEmpty { return "no sentence" }
        }
        return nil
    }
}
