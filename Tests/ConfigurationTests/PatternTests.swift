import Testing

@testable import Configuration

@Suite struct PatternTests {
    struct Row: Sendable {
        var pattern: String
        var matching: [String]
        var other: [String]
    }

    @Test(arguments: [
        Row(pattern: "", matching: ["", "a"], other: []),
        Row(pattern: "b", matching: ["b", "abc"], other: ["", "a"]),
        Row(pattern: "^b", matching: ["b", "bc"], other: ["ab", ""]),
        Row(pattern: "b$", matching: ["b", "ab"], other: ["ba", "b\n"]),
        Row(pattern: "^$", matching: [""], other: [" "]),
        Row(pattern: "^a.c$", matching: ["abc", "aäc", "a🔥c"], other: ["ac", "a\nc", "abbc"]),
        Row(pattern: "^a*$", matching: ["", "aaa"], other: ["ab"]),
        Row(pattern: "^(ab)+$", matching: ["ab", "abab"], other: ["", "aba"]),
        Row(pattern: "^a?b$", matching: ["b", "ab"], other: ["aab"]),
        Row(pattern: "^a{2}$", matching: ["aa"], other: ["a", "aaa"]),
        Row(pattern: "^a{2,}$", matching: ["aa", "aaaa"], other: ["a"]),
        Row(pattern: "^a{1,3}$", matching: ["a", "aaa"], other: ["", "aaaa"]),
        Row(pattern: "^(?:a|bc|)d$", matching: ["ad", "bcd", "d"], other: ["bd", "abcd"]),
        Row(pattern: "a|^b", matching: ["xa", "b"], other: ["xb"]),
        Row(pattern: "^[a-c_-]$", matching: ["a", "c", "_", "-"], other: ["d", ""]),
        Row(pattern: "^[^a-c]$", matching: ["d", "ä", "\n"], other: ["b", ""]),
        Row(pattern: #"^\d\w\s$"#, matching: ["1_ ", "2a\t"], other: ["a1 ", "1- "]),
        Row(pattern: #"^[\d.]+\D\W\S$"#, matching: ["1.2a-b"], other: ["1.2a-"]),
        Row(pattern: #"\bhe\b"#, matching: ["he", "so he said"], other: ["the", "hen"]),
        Row(pattern: #"a\Bb"#, matching: ["ab"], other: ["a b"]),
        Row(pattern: #"^https://[a-z0-9-]+\.example\.org(:\d+)?$"#,
            matching: ["https://a.example.org", "https://a-1.example.org:8080"],
            other: ["https://a.example.org.evil.net", "http://a.example.org", "https://aXexample.org"]),
        Row(pattern: "^a*?b+?$", matching: ["b", "aabb"], other: ["a"]),
        Row(pattern: #"\t\n\\\/\."#, matching: ["\t\n\\/."], other: ["tn"]),
        Row(pattern: "^([a-z]*)*$", matching: ["", "abc"], other: ["1"]),
        Row(pattern: "^a{x}b{2$", matching: ["a{x}b{2"], other: ["aa"]),
        Row(pattern: #"^[\D]\u00e4\x41[[:a]$"#, matching: ["xäA:", "xäA["], other: ["1äA:", "xäAp"]),
        Row(pattern: "^a.b$", matching: ["axb"], other: ["a\rb", "a\nb"]),
        Row(pattern: "^(a|b)*c{0}d$", matching: ["d", "abd"], other: ["cd"]),
    ])
    func matches(_ row: Row) throws {
        let pattern = try Pattern(row.pattern)
        for text in row.matching { #expect(pattern.matches(text), "\(row.pattern) matches \(text)") }
        for text in row.other { #expect(!pattern.matches(text), "\(row.pattern) does not match \(text)") }
    }

    @Test func caseIsIgnoredOnRequest() throws {
        let pattern = try Pattern("^HTTPS://[A-F]+[^x]$", ignoringCase: true)
        #expect(pattern.matches("https://abcY"))
        #expect(pattern.matches("HTTPS://FEDy"))
        #expect(!pattern.matches("https://abcX"))
        #expect(try !Pattern("a").matches("A"))
    }

    @Test(arguments: [
        "(", ")", "a)", "(a", "[a", "[", "*", "a**", "a{3,1}", "a{1001}", "a\\", "\\1", "(a)\\1", "(?=a)", "(?<n>a)", "(?!a)",
        "\\q", "[z-a]", "[a-\\d]", "[\\b]", "\\Aa", "a\\z", "\\Q.\\E", "(?i)a", "\\pL", "\\u00", "\\", "[]", "[]a]", "[^]",
        "((a{1000}){1000}){1000}", "((){1000}){1000}", String(repeating: "(", count: 60),
    ])
    func isRefused(_ pattern: String) {
        #expect(throws: PatternError.self) { try Pattern(pattern) }
    }

    /// A pattern on which a matcher that backtracks needs years.
    @Test func hostileTextTakesLinearTime() throws {
        let pattern = try Pattern("^(a+)+(a|aa)*$")
        #expect(!pattern.matches(String(repeating: "a", count: 20_000) + "b"))
    }
}
