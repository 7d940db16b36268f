import HearthJSON
import Rules
import Testing
import Tree

/// Explanations of decisions for people.
@Suite struct ExplanationTests {
    static let rules = """
        {"rules": {
          "users": {"$uid": {
            ".read": "auth.uid === $uid",
            ".write": "auth != null &&
                       auth.uid === $uid",
            "name": {".validate": "newData.isString() && newData.val().length <= 3"}
          }},
          "rooms": {".read": "root.child('members').child(auth.uid).exists()", "$r": {".read": false}},
          "sum": {".read": "data.val() + 1 > 2"}
        }}
        """

    private func read(_ path: String, auth: JSONValue? = nil, data: String = "null") throws -> RuleTrace {
        let verdict = try Judge.rules(Self.rules).read(
            Path(parsing: path), query: nil, context: RuleContext(auth: auth, now: 0), data: NodeData(Judge.node(data)), explains: true)
        return try #require(verdict.trace)
    }

    @Test func aComparisonShowsBothSides() throws {
        let trace = try read("/users/u2", auth: ["uid": "u1"])
        #expect(trace.sentence == "Reading /users/u2 is denied: /users/$uid/.read at 3:15 is false because"
            + " auth.uid === $uid is false at 3:15 (auth.uid is 'u1', $uid is 'u2').")
        #expect(trace.steps.map(\.path.description) == ["/users/u2"])
        #expect(trace.steps.first?.source == "auth.uid === $uid")
    }

    @Test func theFirstFalseOperandIsNamed() throws {
        let verdict = try Judge.write(try Judge.rules(Self.rules), "/users/u2/name", "\"Uma\"")
        #expect(verdict.trace?.steps.first?.reason == "auth != null is false at 4:16 (auth is null)")
        let other = try Judge.write(try Judge.rules(Self.rules), "/users/u2/name", "\"Uma\"", auth: ["uid": "u1"])
        #expect(other.trace?.steps.first?.reason == "auth.uid === $uid is false at 5:16 (auth.uid is 'u1', $uid is 'u2')")
    }

    @Test func aRefusedValueIsNamed() throws {
        let verdict = try Judge.write(try Judge.rules(Self.rules), "/users/u1/name", "\"Ursula\"", auth: ["uid": "u1"])
        #expect(verdict.trace?.sentence == "Writing /users/u1/name is denied: /users/$uid/name/.validate at 6:28 is false because"
            + " newData.val().length <= 3 is false at 6:50 (newData.val().length is 6).")
        #expect(verdict.trace?.steps.map(\.outcome) == [.holds, .fails])
        #expect(verdict.trace?.steps.map(\.rule) == ["/users/$uid/.write", "/users/$uid/name/.validate"])
    }

    @Test func anErrorSaysWhatWasNull() throws {
        let trace = try read("/rooms/r1")
        #expect(trace.steps.map(\.outcome) == [.error, .fails])
        #expect(trace.steps.first?.reason == "auth is null at 8:51, where a string is needed")
        #expect(trace.sentence == "Reading /rooms/r1 is denied: none of 2 .read rules is true; the last, /rooms/$r/.read at 8:88 is false.")
        #expect(try read("/sum").steps.first?.reason == "data.val() is null at 9:21, where a number or a string is needed")
        #expect(try read("/sum", data: #"{"sum": "a"}"#).steps.first?.reason == "data.val() + 1 > 2 at 9:21 compares a number with a string")
        #expect(try read("/sum", data: #"{"sum": {"a": 1}}"#).steps.first?.reason
            == "data.val() is an object at 9:21, where a number or a string is needed")
    }

    @Test func noRuleIsAReason() throws {
        #expect(try read("/nothing").sentence
            == "Reading /nothing is denied: no .read rule applies at or above it, and without one access is denied.")
    }

    @Test func aGrantIsNamed() throws {
        let trace = try read("/users/u1", auth: ["uid": "u1"])
        #expect(trace.sentence == "Reading /users/u1 is allowed by /users/$uid/.read at 3:15.")
        #expect(trace.steps.first?.reason == nil)
    }

    @Test func programsAndPeopleCanReadIt() throws {
        let trace = try read("/rooms/r1")
        #expect(!trace.isAllowed)
        #expect(trace.steps.first?.outcome == .error)
        #expect(trace.steps.first?.line == 8)
        #expect(trace.steps.last?.reason == nil)
        #expect(trace.description.split(separator: "\n").count == 3)
        #expect(trace.description.hasSuffix("\n  false  /rooms/$r/.read (8:88)"))
    }

    @Test func allRefusedValuesAreListed() throws {
        let rules = try Judge.rules(#"{"rules": {".write": true, "$a": {".validate": "newData.isString()"}}}"#)
        let verdict = try Judge.write(rules, "/", #"{"a": 1, "b": "x", "c": 2}"#)
        let steps = try #require(verdict.trace?.steps)
        #expect(steps.filter { $0.outcome == .fails }.map(\.path.description) == ["/a", "/c"])
        let many = (0..<5000).map { "\"k\($0)\": 1" }.joined(separator: ",")
        #expect(try Judge.write(rules, "/", "{\(many)}").trace?.steps.count ?? 0 <= 128)
    }

    @Test func withoutBeingAskedNothingIsExplained() throws {
        let rules = try Judge.rules(Self.rules)
        let context = RuleContext(auth: nil, now: 0)
        #expect(rules.read(.root, query: nil, context: context, data: NodeData(.empty)).trace == nil)
    }
}
