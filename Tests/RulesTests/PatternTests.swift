import HearthJSON
import Rules
import Testing

/// Regular expressions: the subset of the language, and that RE2 reads them as they are meant.
@Suite struct PatternTests {
    @Test(arguments: [
        ("/a/", "cat", true), ("/^a/", "cat", false), ("/t$/", "cat", true), ("/^$/", "", true), ("/^$/", "a", false),
        ("/A/i", "cat", true), ("/É/i", "é", true), ("/^.$/", "🔥", true), ("/^.$/", "\n", false), ("/^[^a]$/", "é", true),
        ("/^a|b$/", "ax", true), ("/^(a|b)$/", "ax", false), ("/^\\d{2,3}$/", "1234", false), ("/^\\d{2,}$/", "1234", true),
        ("/^\\w+\\s\\W\\S$/", "ab !x", true), ("/^[\\w.-]+$/", "a-b.c", true), ("/^[a\\]b]+$/", "a]", true), ("/^[[]$/", "[", true),
        ("/^[a-]$/", "-", true), ("/^[-a]$/", "-", true), ("/^\\x41\\u00e9$/", "Aé", true), ("/^[\\u0410-\\u042f]+$/", "ЖЯ", true),
        ("/^a\\/b$/", "a/b", true), ("/^[/]$/", "/", true), ("/^\\$\\^\\.$/", "$^.", true), ("/^]}$/", "]}", true),
        ("/^a{2}$/", "aa", true), ("/^(ab)+$/", "abab", true), ("/^[:alpha:]$/", "a", true), ("/^[:alpha:]$/", "z", false),
        ("/^\\t\\n$/", "\t\n", true), ("/^\\-$/", "-", true), ("/^\\D\\d$/", "a1", true), ("/^[^\\d]$/", "1", false), ("/ b/", "a b", true),
    ])
    func matches(_ pattern: String, _ text: String, _ expected: Bool) throws {
        let data = JSONValue.string(text).description
        #expect(try Judge.outcome("data.val().matches(\(pattern))", data: data) == (expected ? .holds : .fails))
    }

    @Test(arguments: [
        ("/a|/", "empty alternative"), ("/(a||b)/", "empty alternative"), ("/()/", "empty alternative"),
        ("/(?:a)/", "groups that begin with (? are not supported"), ("/(?i)a/", "groups that begin with (? are not supported"),
        ("/(?=a)/", "groups that begin with (? are not supported"), ("/(?P<n>a)/", "groups that begin with (? are not supported"),
        ("/a(^b)/", "^ may only stand at the beginning"), ("/a$b/", "$ may only stand at the end"),
        ("/(a$)/", "$ may only stand at the end"), ("/^*a/", "nothing to repeat"), ("/+a/", "nothing to repeat"),
        ("/a+?/", "nothing to repeat"), ("/a{2}{3}/", "nothing to repeat"), ("/a{/", "a count must follow {"), ("/a{,3}/", "a count must follow {"),
        ("/a{2/", "missing } after a count"), ("/a{3,2}/", "the counts are in the wrong order"), ("/a{1001}/", "a count may be at most 1000"),
        ("/(a/", "missing )"), ("/a)/", "unmatched )"), ("/[]/", "empty character class"), ("/[^]/", "empty character class"),
        ("/[z-a]/", "the range is in the wrong order"), ("/[a-\\d]/", "a class cannot be the end of a range"),
        ("/\\1/", "this escape is not supported"), ("/\\b/", "this escape is not supported"), ("/\\pL/", "this escape is not supported"),
        ("/\\Qa/", "this escape is not supported"), ("/\\C/", "this escape is not supported"), ("/\\x4/", "hexadecimal digits must follow"),
        ("/\\ud800/", "half a surrogate pair is not a character"),
    ])
    func isRefused(_ pattern: String, _ reason: String) {
        let text = Judge.refusal(expression: "data.val().matches(\(pattern))")
        #expect(text?.hasSuffix("Invalid regular expression: \(reason).") == true, "\(text ?? "accepted")")
    }

    @Test func patternsAreBoundedInSize() {
        let large = Judge.refusal(expression: "data.val().matches(/((((a{100}){100}){100}){100})/)")
        #expect(large?.contains("Invalid regular expression: ") == true)
        let many = (0..<200).map { "data.val().matches(/(\($0)[^a]{200}){2}/)" }.joined(separator: " || ")
        #expect(Judge.refusal(expression: many)?.hasSuffix("the regular expressions are too large together.") == true)
        let same = Array(repeating: "data.val().matches(/([^a]{200}){2}/)", count: 200).joined(separator: " || ")
        #expect(Judge.refusal(expression: same) == nil)
        let nested = String(repeating: "(", count: 10_000) + "a" + String(repeating: ")", count: 10_000)
        #expect(Judge.refusal(expression: "data.val().matches(/\(nested)/)")?.hasSuffix("too many nested groups.") == true)
    }

    @Test func matchingIsLinear() throws {
        let text = String(repeating: "a", count: 100_000)
        #expect(try Judge.outcome("data.val().matches(/^(a+)+b$/)", data: JSONValue.string(text).description) == .fails)
    }
}
