import HearthJSON
import Rules
import Testing
import Tree

/// The rules that a write needs, beyond the table of cases.
@Suite struct WriteTests {
    static let shop = """
        {"rules": {
          ".write": "auth != null",
          "shops": {"$shop": {
            ".validate": "newData.hasChildren(['name']) && $shop.length < 5",
            "name": {".validate": "newData.isString()"},
            "items": {"$item": {
              ".validate": "newData.child('price').val() > 0",
              "tags": {"$tag": {".validate": "newData.val() == true && newData.parent().parent().child('price').exists() && $item != $tag"}},
              "price": {},
              "$other": {".validate": "$other.beginsWith('x')"}
            }}
          }}
        }}
        """

    @Test(arguments: [
        ("/", #"{"shops": {"a": {"name": "A", "items": {"i": {"price": 1, "xyz": 1, "tags": {"t": true}}}}}}"#, true),
        ("/", #"{"shops": {"a": {"items": {}}}, "other": {"name": 5}}"#, true),
        ("/", #"{"shops": {"a": {"items": {"i": 1}}}}"#, false),
        ("/shops/a", #"{"name": "A"}"#, true), ("/shops/long1", #"{"name": "A"}"#, false), ("/shops/a/name", #""A""#, true),
        ("/shops/a/name", "5", false), ("/shops/a/items/i", #"{"price": 1}"#, false), ("/shops/b/items/i", #"{"price": 1}"#, true),
        ("/shops/b/items/i", #"{"price": 0}"#, false), ("/shops/b/items/i/price", "1", true), ("/shops/b/items/i/other", "1", false),
        ("/shops/b/items/j/tags/t", "true", true), ("/shops/b/items/j/tags/j", "true", false), ("/shops/b/items/j/tags/t/deeper", "1", false),
        ("/shops/b/items/j/price", "null", false),
        ("/shops/b/items/j", "{}", true), ("/shops/b/items/j", "null", true), ("/shops/b/name", "null", false),
        ("/shops/b", "null", true), ("/shops/nothing/at/all", "null", true), ("/elsewhere/entirely", "[1, 2]", true),
    ])
    func validates(_ path: String, _ value: String, _ isAllowed: Bool) throws {
        let data = #"{"shops": {"b": {"name": "B", "items": {"j": {"price": 2, "tags": {"t": true}}}}}}"#
        let verdict = try Judge.write(try Judge.rules(Self.shop), path, value, data: data, auth: ["uid": "u"])
        #expect(verdict.isAllowed == isAllowed, "\(verdict.trace?.description ?? "")")
    }

    @Test func withoutAGrantNothingIsValidated() throws {
        let verdict = try Judge.write(try Judge.rules(Self.shop), "/shops/a/name", "5")
        #expect(!verdict.isAllowed)
        #expect(verdict.trace?.steps.map(\.rule) == ["/.write"])
    }

    /// `newData` is the same, whether it is looked up in the written value or in the tree.
    @Test(arguments: [
        "newData.child('a').val() == 1", "newData.child('b/c').val() == 'x'",
        "newData.child('b').val() != null && newData.child('b').isString() == false",
        "newData.hasChildren(['a', 'b/c'])", "newData.hasChildren()", "newData.child('a').hasChildren() == false",
        "newData.child('p').getPriority() == 4",
        "newData.child('a.b').exists() == false", "newData.parent().child('old').val() == true", "newData.parent().hasChildren(['old', 'node/a'])",
        "newData.child('b').child('c').parent().parent().parent().child('old').exists()",
        "newData.child('a').isNumber() && newData.child('t').isBoolean()",
        "newData.child('gone').val() == null && data.child('gone').val() == 1", "newData.val() != null && newData.exists()",
    ])
    func newDataIsTheMergedTree(_ expression: String) throws {
        let value = #"{"a": 1, "b": {"c": "x"}, "p": {".value": 1, ".priority": 4}, "t": false}"#
        let data = #"{"old": true, "node": {"gone": 1}}"#
        for name in [".write", ".validate"] {
            let grant = name == ".validate" ? "\".write\": true, " : ""
            let rules = try Judge.rules("{\"rules\": {\"node\": {\(grant)\"\(name)\": \"\(expression)\"}}}")
            let verdict = try Judge.write(rules, "/node", value, data: data)
            #expect(verdict.isAllowed, "\(verdict.trace?.description ?? "")")
        }
    }

    @Test func aLiteralChildHidesTheWildcard() throws {
        let rules = try Judge.rules(#"{"rules": {".write": true, "$a": {".validate": false}, "free": {}}}"#)
        #expect(try Judge.write(rules, "/free/x", "1").isAllowed)
        #expect(try !Judge.write(rules, "/other/x", "1").isAllowed)
        #expect(try Judge.write(rules, "/", #"{"free": 1}"#).isAllowed)
        #expect(try !Judge.write(rules, "/", #"{"free": 1, "other": 1}"#).isAllowed)
        // Canonically equivalent names are two names.
        let accents = try Judge.rules("{\"rules\": {\"\u{E9}\": {\".write\": true}}}")
        #expect(try Judge.write(accents, "/\u{E9}", "1").isAllowed)
        #expect(try !Judge.write(accents, "/e\u{301}", "1").isAllowed)
    }

    @Test func manyWrittenNodesAreValidatedOneByOne() throws {
        let rules = try Judge.rules(#"{"rules": {".write": true, "list": {"$i": {".validate": "newData.val() != 999"}}}}"#)
        let children = (0..<2000).map { "\"\($0)\": \($0 % 1000 == 999 ? 998 : $0 % 999)" }.joined(separator: ",")
        #expect(try Judge.write(rules, "/list", "{\(children)}").isAllowed)
        #expect(try !Judge.write(rules, "/list", "{\(children), \"last\": 999}").isAllowed)
    }
}
