import HearthJSON
import Rules
import Testing
import Tree

/// Valid rules documents, and the errors, with line and column, of invalid ones.
@Suite struct DocumentTests {
    @Test(arguments: [
        ("", "1:1: Parse error. The document ends before it is complete."),
        ("  \n ", "2:2: Parse error. The document ends before it is complete."),
        ("[]", "1:1: Expected 'rules' property."),
        ("{\"rules\": {}, \"more\": 1}", "1:1: Expected 'rules' property."),
        ("{\"rules\": 5}", "1:11: Expected '{'."),
        ("{\"rules\": {}} x", "1:15: Parse error. Unexpected 'x'."),
        ("{\"rules\": {},,}", "1:14: Parse error. Unexpected ','."),
        ("{,}", "1:2: Parse error. Unexpected ','."),
        ("{\"rules\": {\".indexOn\": [,]}}", "1:25: Parse error. Unexpected ','."),
        ("{\"rules\": {\".indexOn\": [\"a\",,\"b\"]}}", "1:29: Parse error. Unexpected ','."),
        ("{\"rules\": {}},", "1:14: Parse error. Unexpected ','."),
        ("{\"rules\": {\"a\": {} \"b\": {}}}", "1:20: Parse error. Unexpected string, or one that has no closing quote."),
        ("{\"rules\": /* open", "1:11: Parse error. Unexpected '/', or a comment that is not closed."),
        ("{\"rules\": {\".read\": \"true}}", "1:21: Parse error. Unexpected string, or one that has no closing quote."),
        ("{\"rules\": {\".read\": \"\\q\"}}", "1:22: Parse error. Unknown escape sequence in a string."),
        ("{\"rules\": {\".read\": 01}}", "1:21: Parse error. Unexpected '01'."),
        ("{\"rules\": {\".read\": tru}}", "1:24: Parse error. Unexpected '}'."),
        ("{\"rules\": {\n  \"é\": {\".raed\": {}}}}", "2:9: String can't contain \".\", \"#\", \"$\", \"/\", \"[\", or \"]\""),
        ("{\"rules\": {\"\": {}}}", "1:12: String can't contain \".\", \"#\", \"$\", \"/\", \"[\", or \"]\""),
        ("{\"rules\": {\"$\": {}}}", "1:12: String can't contain \".\", \"#\", \"$\", \"/\", \"[\", or \"]\""),
        ("{\"rules\": {\"$a$\": {}}}", "1:12: String can't contain \".\", \"#\", \"$\", \"/\", \"[\", or \"]\""),
        ("{\"rules\": {\"$x\": {},\n\"$y\": {}}}", "2:1: Cannot have multiple default rules ('$x' and '$y')."),
        ("{\"rules\": {\"$x\": {\"$x\": {}}}}", "1:19: '$x' is already the name of a wildcard above."),
        ("{\"rules\": {\"a\": {}, \"a\": {}}}", "1:21: Duplicate key 'a'."),
        ("{\"rules\": {\".indexOn\": \"a.b\"}}", "1:24: Invalid indexOn expression. 'a.b' is neither a path nor '.value'"),
        ("{\"rules\": {\".indexOn\": {}}}", "1:24: Invalid indexOn expression. Must be either a string or an array of strings"),
    ])
    func isRefused(_ document: String, _ text: String) {
        #expect(Judge.refusal(document) == text)
    }

    /// The hosted service takes a comma behind the last member.
    @Test(arguments: [
        "{\"rules\": {\".read\": true,},}", "{\"rules\": {\".indexOn\": [\"a\", \"b\",],\n},\n}",
        "{\"rules\": {\"a\": {}, /* last */ // or not\n},}",
    ])
    func trailingCommasAreTaken(_ document: String) throws {
        let rules = try Judge.rules(document)
        #expect(rules.source == Array(document.utf8))
        #expect(throws: Never.self) { try JSONValue(parsing: rules.strictJSON()) }
    }

    /// The place of a mistake in an expression is its place in the document, whatever escapes and lines come before it.
    @Test(arguments: [
        ("{\"rules\": {\".read\": \"foo\"}}", "1:22: Unknown variable 'foo'."),
        ("{\"rules\": {\".read\":\n \"'\\u0041\\t' == foo\"}}", "2:17: Unknown variable 'foo'."),
        ("{\"rules\": {\".read\": \"true &&\n\t auth.uid == foo\"}}", "2:15: Unknown variable 'foo'."),
        ("{\"rules\": {\".read\": \"'é' == foo\"}}", "1:29: Unknown variable 'foo'."),
        ("{\"rules\": {\".read\": \"\\\"a\\\" ==\"}}", "1:30: syntax error: the expression is not complete"),
    ])
    func placesAreThoseOfTheDocument(_ document: String, _ text: String) {
        #expect(Judge.refusal(document) == text)
    }

    @Test func bytesThatAreNotUTF8AreRefused() {
        let bytes = Array("{\"rules\": {\n\"".utf8) + [0xC3, 0x28] + Array("\": {}}}".utf8)
        let error = #expect(throws: RulesError.self) { try RuleSet(parsing: bytes) }
        #expect(error?.description == "2:2: Parse error. The bytes are not UTF-8.")
    }

    @Test func aMarkAtTheBeginningIsPassedOver() throws {
        #expect(throws: Never.self) { try RuleSet(parsing: [0xEF, 0xBB, 0xBF] + Array("{\"rules\": {}}".utf8)) }
    }

    @Test func sizeAndNestingAreBounded() throws {
        var limits = RuleLimits()
        limits.documentBytesMax = 20
        #expect(Judge.refusal("{\"rules\": {\"a\": {}, \"b\": {}}}", limits: limits) == "1:1: Rules are larger than 20 bytes.")
        let deep = String(repeating: "{\"a\":", count: 100_000)
        #expect(Judge.refusal("{\"rules\":" + deep)?.hasSuffix("Rules are nested too deeply.") == true)
        #expect(Judge.refusal(String(repeating: "[", count: 100_000))?.hasSuffix("Rules are nested too deeply.") == true)
    }

    @Test func strictJSONHasNeitherCommentsNorNewlines() throws {
        let rules = try Judge.rules(
            "/* a */ {\"rules\": { // b\n \".read\": \"true\n\t&& true\", \"x\": {\".indexOn\": [\"a\", \".value\"], \".write\": false}}}")
        let expected = #"{"rules":{".read":"true\n\t&& true","x":{".indexOn":["a",".value"],".write":false}}}"#
        #expect(String(decoding: rules.strictJSON(), as: UTF8.self) == expected)
        #expect(throws: Never.self) { try RuleSet(parsing: rules.strictJSON()) }
    }

    @Test func thePlainSetsAreWhatTheySay() throws {
        let context = RuleContext(auth: nil, now: 0)
        let nothing = NodeData(.empty)
        #expect(RuleSet.open.read(.root, query: nil, context: context, data: nothing).isAllowed)
        #expect(!RuleSet.closed.read(.root, query: nil, context: context, data: nothing).isAllowed)
        #expect(String(decoding: RuleSet.open.strictJSON(), as: UTF8.self) == #"{"rules":{".read":true,".write":true}}"#)
        #expect(RuleSet.closed.strictJSON() == RuleSet.closed.source)
        for rules in [RuleSet.open, RuleSet.closed] {
            let again = try RuleSet(parsing: rules.source)
            let verdicts = [rules, again].map { $0.read(.root, query: nil, context: context, data: nothing, explains: true).trace }
            #expect(verdicts[0] == verdicts[1])
        }
    }

    @Test func indexesAreDeclaredWithTheirPattern() throws {
        let rules = try Judge.rules(
            "{\"rules\": {\"a\": {\".indexOn\": \"x/y\", \"$k\": {\".indexOn\": [\".value\", \"z\", \"/z/\"]}, \"b\": {}}}}")
        #expect(rules.indexDefinitions.count == 3)
        #expect(rules.indexDefinitions.first == IndexDeclaration(pattern: ["a"], target: .child(Path(["x", "y"]))))
        #expect(rules.hasIndex(at: Path(["a"]), order: .child(Path(["x", "y"]))))
        #expect(!rules.hasIndex(at: Path(["a"]), order: .value))
        #expect(rules.hasIndex(at: Path(["a", "any"]), order: .value))
        #expect(rules.hasIndex(at: Path(["a", "any"]), order: .child(Path(["z"]))))
        #expect(!rules.hasIndex(at: Path(["a", "b"]), order: .value))
        #expect(!rules.hasIndex(at: Path(["nowhere"]), order: .value))
        #expect(rules.hasIndex(at: Path(["nowhere"]), order: .key))
        #expect(rules.hasIndex(at: Path(["nowhere"]), order: .priority))
    }
}
