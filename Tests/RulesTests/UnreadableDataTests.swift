import HearthJSON
import Rules
import Testing
import Tree

/// Data that cannot be read: every question of every rule may be the one that fails.
@Suite struct UnreadableDataTests {
    private struct Unreadable: Error {}

    /// A tree that answers so many questions and no more.
    private final class Failing: RuleData {
        private let data: NodeData
        var answersLeft: Int
        private(set) var questions = 0

        init(_ data: NodeData, answers: Int) {
            self.data = data
            answersLeft = answers
        }

        private func answer<Answer>(_ answer: Answer) throws(Unreadable) -> Answer {
            questions += 1
            answersLeft -= 1
            guard answersLeft >= 0 else { throw Unreadable() }
            return answer
        }

        func leaf(at key: PathKey) throws(Unreadable) -> Leaf? { try answer(data.leaf(at: key)) }
        func exists(at key: PathKey) throws(Unreadable) -> Bool { try answer(data.exists(at: key)) }
        func hasChildren(at key: PathKey) throws(Unreadable) -> Bool { try answer(data.hasChildren(at: key)) }
        func priority(at key: PathKey) throws(Unreadable) -> Priority? { try answer(data.priority(at: key)) }
    }

    private static let data = #"{"s":"text","n":1,"o":{"k":1},"list":{"a":"s"}}"#

    @Test(arguments: [
        "data.exists()", "!data.exists()", "data.child('x').exists() || data.child('s').val() == 'text'",
        "data.child('n').val() > 0 && !data.child('x').exists()", "data.hasChildren(['s', 'n', 'o'])", "!data.hasChildren(['s', 'x'])",
        "data.getPriority() == null", "data.val() != null", "data.child('s').isString() && data.child('o').hasChildren()",
        "data.child(data.child('list/a').val()).exists()", "data.child('s').val() == 'other'", "data.child('n').val().length > 1",
        "data.child('x').exists() ? data.child('n').exists() : !data.child('y').exists()",
    ])
    func everyQuestionMayFail(_ expression: String) throws {
        let rules = try Judge.rules(expression: expression)
        let context = RuleContext(auth: nil, now: 0)
        for explains in [false, true] {
            let whole = Failing(NodeData(try Judge.node(Self.data)), answers: .max)
            _ = try rules.read(.root, query: nil, context: context, data: whole, explains: explains)
            #expect(whole.questions > 0)
            for answers in 0..<whole.questions {
                let data = Failing(NodeData(try Judge.node(Self.data)), answers: answers)
                #expect(throws: Unreadable.self) {
                    try rules.read(.root, query: nil, context: context, data: data, explains: explains)
                }
                #expect(data.questions == answers + 1, "goes on after the failure")
            }
        }
    }

    @Test(arguments: ["1", #"{"k":{"deep":2}}"#, "null"])
    func everyQuestionOfAWriteMayFail(_ value: String) throws {
        let rules = try Judge.rules(
            """
            {"rules": {
              ".write": "data.child('s').exists()", ".validate": "newData.hasChildren(['s'])",
              "o": {".write": "false", ".validate": "root.child('n').val() == 1", "$k": {".validate": "data.exists() || newData.exists()"}}
            }}
            """)
        let path = Path(["o"])
        let old = try Judge.node(Self.data)
        let written = try Judge.node(value)
        let new = NodeData(old.setting(written, at: path))
        let context = RuleContext(auth: nil, now: 0)
        let questions = [Failing(NodeData(old), answers: .max), Failing(new, answers: .max)]
        _ = try rules.write(path, value: written, context: context, old: questions[0], new: questions[1])
        #expect(questions[0].questions > 0 && questions[1].questions > 0)
        for answers in 0..<questions[0].questions {
            let failing = Failing(NodeData(old), answers: answers)
            #expect(throws: Unreadable.self) {
                try rules.write(path, value: written, context: context, old: failing, new: Failing(new, answers: .max))
            }
        }
        for answers in 0..<questions[1].questions {
            let failing = Failing(new, answers: answers)
            #expect(throws: Unreadable.self) {
                try rules.write(path, value: written, context: context, old: Failing(NodeData(old), answers: .max), new: failing)
            }
        }
        let deniesAll = Failing(NodeData(old), answers: 0)
        #expect(throws: Unreadable.self) { try rules.grantsWrite(path, context: context, old: deniesAll, new: deniesAll) }
    }
}
