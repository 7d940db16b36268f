import HearthJSON
import Rules
import Testing
import Tree

/// Short ways to rules and what they say.
enum Judge {
    static func rules(_ document: String, limits: RuleLimits = RuleLimits()) throws -> RuleSet {
        try RuleSet(parsing: Array(document.utf8), limits: limits)
    }

    /// Rules with `expression` as the one `.read` or `.write` at the root.
    static func rules(expression: String, _ name: String = ".read", limits: RuleLimits = RuleLimits()) throws -> RuleSet {
        let document: JSONValue = ["rules": .object([name: .string(expression)])]
        return try RuleSet(parsing: document.serialized(), limits: limits)
    }

    static func node(_ json: String) throws -> Node { try Node(json: JSONValue(parsing: json)) }

    /// The one step of reading the root under `expression`.
    static func step(_ expression: String, data: String = "null", auth: JSONValue? = nil, query: Query? = nil) throws -> RuleTrace.Step {
        let rules = try rules(expression: expression)
        let context = RuleContext(auth: auth, now: 1_000_000)
        let verdict = rules.read(.root, query: query, context: context, data: NodeData(try node(data)), explains: true)
        let trace = try #require(verdict.trace)
        #expect(trace.isAllowed == verdict.isAllowed)
        return try #require(trace.steps.first)
    }

    static func outcome(_ expression: String, data: String = "null", auth: JSONValue? = nil, query: Query? = nil) throws -> RuleTrace.Outcome {
        try step(expression, data: data, auth: auth, query: query).outcome
    }

    /// Writes `value` at `path` of `data`.
    static func write(
        _ rules: RuleSet, _ path: String, _ value: String, data: String = "null", auth: JSONValue? = nil
    ) throws -> RuleVerdict {
        let path = try Path(parsing: path)
        let old = try node(data)
        let value = try node(value)
        let context = RuleContext(auth: auth, now: 1_000_000)
        let new = NodeData(old.setting(value, at: path))
        return rules.write(path, value: value, context: context, old: NodeData(old), new: new, explains: true)
    }

    /// The error of a refused document; nil if it is accepted.
    static func refusal(_ document: String, limits: RuleLimits = RuleLimits()) -> String? {
        do throws(RulesError) {
            _ = try RuleSet(parsing: Array(document.utf8), limits: limits)
            return nil
        } catch {
            return error.description
        }
    }

    /// The error of a refused expression, without line and column, which are those of the expression.
    static func refusal(expression: String, _ name: String = ".read") -> String? {
        let prefix = "{\"rules\":{\"\(name)\":\""
        let document: JSONValue = ["rules": .object([name: .string(expression)])]
        guard let text = refusal(document.description), text.hasPrefix("1:") else { return nil }
        guard let column = Int(text.dropFirst(2).prefix { $0 != ":" }) else { return nil }
        let rest = text.dropFirst(2).drop { $0 != ":" }.dropFirst(2)
        return "\(column - prefix.count): \(rest)"
    }
}
