import Testing

@testable import Messaging

@Suite("Conditions over topics")
struct ConditionTests {
    /// Whether the condition holds for a device with these topics.
    private func holds(_ text: String, _ topics: Set<String>) throws -> Bool {
        let condition = try #require(TopicCondition(text))
        let mask = condition.topics.enumerated().reduce(UInt32(0)) { topics.contains($1.element) ? $0 | 1 << UInt32($1.offset) : $0 }
        return condition.holds(for: mask)
    }

    @Test("operators bind equally, from the left")
    func order() throws {
        #expect(try !holds("'c' in topics || 'a' in topics && 'b' in topics", ["c"]))
        #expect(try holds("'a' in topics && 'b' in topics || 'c' in topics", ["c"]))
        #expect(try holds("'c' in topics || ('a' in topics && 'b' in topics)", ["c"]))
    }

    @Test("negation")
    func negation() throws {
        #expect(try holds("!('a' in topics)", []))
        #expect(try holds("!!'a' in topics", ["a"]))
        #expect(try !holds("! ('a' in topics || 'b' in topics)", ["b"]))
        #expect(try #require(TopicCondition("!('a' in topics)")).holdsForNone)
        #expect(try !#require(TopicCondition("'a' in topics")).holdsForNone)
    }

    @Test("a topic that is named twice counts twice, and is one")
    func repeated() throws {
        #expect(try holds("'a' in topics && 'a' in topics", ["a"]))
        #expect(try #require(TopicCondition("'a' in topics && 'a' in topics")).topics == ["a"])
        #expect(TopicCondition(Array(repeating: "'a' in topics", count: 5).joined(separator: "||")) != nil)
        #expect(TopicCondition(Array(repeating: "'a' in topics", count: 6).joined(separator: "||")) == nil)
    }

    @Test(
        "what is no condition",
        arguments: [
            "", " ", "'a'", "a in topics", "\"a\" in topics", "'a' in topic", "'a' in topicsx", "'a'in topics x", "'a' in topics &&",
            "&& 'a' in topics", "'a' in topics & 'b' in topics", "('a' in topics", "'a' in topics)", "'' in topics", "'a b' in topics",
            "'a' == topics", "'/topics/a' in topics",
        ])
    func refused(_ text: String) { #expect(TopicCondition(text) == nil) }

    @Test("depth and length are bounded")
    func bounds() {
        func nested(_ depth: Int) -> String { String(repeating: "(", count: depth) + "'a' in topics" + String(repeating: ")", count: depth) }
        #expect(TopicCondition(nested(16)) != nil)
        #expect(TopicCondition(nested(17)) == nil)
        #expect(TopicCondition("'\(String(repeating: "a", count: 1010))' in topics") == nil)
    }
}
