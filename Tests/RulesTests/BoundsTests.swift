import HearthJSON
import Rules
import Testing
import Tree

/// Evaluation ends, whatever the rules and the data are. Counted in steps, never by a clock.
@Suite struct BoundsTests {
    private func read(_ rules: RuleSet, _ data: Node = .empty) throws -> RuleVerdict {
        rules.read(.root, query: nil, context: RuleContext(auth: nil, now: 0), data: NodeData(data), explains: true)
    }

    @Test func stepsAreCounted() throws {
        var limits = RuleLimits()
        limits.stepsMax = 1000
        let few = try Judge.rules(expression: Array(repeating: "1 == 2", count: 10).joined(separator: " || ") + " || true", limits: limits)
        #expect(try read(few).isAllowed)
        let many = try Judge.rules(expression: Array(repeating: "1 == 2", count: 2000).joined(separator: " || ") + " || true", limits: limits)
        let verdict = try read(many)
        #expect(!verdict.isAllowed)
        #expect(verdict.isOverBudget)
        #expect(verdict.trace?.sentence == "Reading / is denied: its rules took more than 1000 steps.")
    }

    @Test func pathsOfOneRequestShareABudget() throws {
        var limits = RuleLimits()
        limits.stepsMax = 250
        let rules = try Judge.rules(expression: "data.exists() == false", ".write", limits: limits)
        var budget = rules.budget()
        let context = RuleContext(auth: nil, now: 0)
        var allowed = 0
        while true {
            let verdict = rules.write(
                Path(["a"]), value: Node(.boolean(true)), context: context, old: NodeData(.empty), new: NodeData(.empty), budget: &budget)
            guard verdict.isAllowed else {
                #expect(verdict.isOverBudget)
                break
            }
            allowed += 1
        }
        #expect((5...50).contains(allowed))
    }

    @Test func aLargeWriteTakesStepsForEachNode() throws {
        var limits = RuleLimits()
        limits.stepsMax = 10_000
        let rules = try Judge.rules(#"{"rules": {".write": true, "$a": {".validate": "newData.exists()"}}}"#, limits: limits)
        let node = { (count: Int) in Node(unsorted: (0..<count).map { Node.Child(key: "\($0)", node: Node(.integer(1))) }) }
        let write = { (value: Node) in
            rules.write(.root, value: value, context: RuleContext(auth: nil, now: 0), old: NodeData(.empty), new: NodeData(value))
        }
        #expect(write(node(1000)).isAllowed)
        let verdict = write(node(20_000))
        #expect(!verdict.isAllowed)
        #expect(verdict.isOverBudget)
    }

    @Test func stringsDoNotGrowWithoutEnd() throws {
        let growth = String(repeating: ".replace('a', 'aaaaaaaaaa')", count: 60)
        var limits = RuleLimits()
        limits.stringBytesMax = 100_000
        let verdict = try read(try Judge.rules(expression: "'a'\(growth) == 'b' || true", limits: limits))
        #expect(!verdict.isAllowed)
        #expect(verdict.trace?.steps.first?.outcome == .error)
        limits.stringBytesMax = 10
        let rules = try Judge.rules(expression: "'12345' + '67890' + 'x' == 'a' || true", limits: limits)
        #expect(try read(rules).trace?.steps.first?.reason == "'12345' + '67890' + 'x' at 1:20 makes a string that is too long")
    }

    @Test func goingOverTextTakesSteps() throws {
        var limits = RuleLimits()
        limits.stepsMax = 20_000
        let text = Node(.string(String(repeating: "a", count: 1_000_000)))
        for method in ["contains('b')", "matches(/b/)", "toLowerCase() == 'b'", "replace('b', 'c') == 'b'", "length == 1"] {
            let rules = try Judge.rules(expression: "data.val().\(method)", limits: limits)
            #expect(try read(rules, text).isOverBudget, "\(method)")
        }
    }

    @Test func readingTextTakesSteps() throws {
        var limits = RuleLimits()
        limits.stepsMax = 20_000
        let text = Node(.string(String(repeating: "a", count: 1_000_000)))
        for expression in ["data.val() == 'a'", "data.isString()", "data.val() == data.val()", "data.val() < 'a'"] {
            #expect(try read(try Judge.rules(expression: expression, limits: limits), text).isOverBudget, "\(expression)")
        }
    }

    @Test func theDeepestExpressionsAreEvaluated() throws {
        let limits = RuleLimits()
        let sum = Array(repeating: "1", count: limits.expressionDepthMax - 2).joined(separator: " + ")
        #expect(try read(try Judge.rules(expression: "\(sum) == \(limits.expressionDepthMax - 2)")).isAllowed)
        let negated = String(repeating: "!!", count: limits.expressionDepthMax / 2 - 4) + "true"
        #expect(try read(try Judge.rules(expression: negated)).isAllowed)
        let deep = "data" + String(repeating: ".child('a')", count: limits.expressionDepthMax / 2 - 2) + ".exists()"
        #expect(try !read(try Judge.rules(expression: deep)).isAllowed)
    }
}
