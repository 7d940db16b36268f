public import HearthJSON
public import Tree

/// Why a request was allowed or denied: every rule that was asked, in order, with what it said.
public struct RuleTrace: Sendable, Hashable {
    /// What was asked for.
    public enum Operation: String, Sendable, Hashable {
        case read
        case write
    }

    /// What a rule said.
    public enum Outcome: String, Sendable, Hashable {
        case holds = "true"
        case fails = "false"
        /// It could not be evaluated, which counts as false.
        case error
    }

    /// One rule.
    public struct Step: Sendable, Hashable {
        /// Where it stands in the rules, such as `/users/$uid/.write`.
        public var rule: String
        /// The place that it was asked about.
        public var path: Path
        /// The expression.
        public var source: String
        /// Where the expression begins in the document, from 1.
        public var line: Int
        /// The character of that line, from 1.
        public var column: Int
        /// What the rule said.
        public var outcome: Outcome
        /// Which part of the expression decided, and where: `auth is null, not a string, at 3:14`. Nil for a rule that is true.
        public var reason: String?
    }

    /// What was asked for.
    public var operation: Operation
    /// The place that the request is about.
    public var path: Path
    /// What the rules came to; false too where they took too many steps.
    public var isAllowed: Bool
    /// The rules that were asked, in that order.
    public var steps: [Step]
    /// One sentence for a person.
    public var sentence: String

    /// The trace for programs.
    public var json: JSONValue {
        let steps = steps.map { step -> JSONValue in
            var object: JSONObject = [
                "rule": .string(step.rule), "path": .string(step.path.description), "expression": .string(step.source),
                "line": JSONValue(step.line), "column": JSONValue(step.column), "outcome": .string(step.outcome.rawValue),
            ]
            object["reason"] = step.reason.map { .string($0) }
            return .object(object)
        }
        return [
            "operation": .string(operation.rawValue), "path": .string(path.description), "allowed": .bool(isAllowed),
            "sentence": .string(sentence), "rules": .array(steps),
        ]
    }
}

extension RuleTrace: CustomStringConvertible {
    /// The sentence, and a line for each rule.
    public var description: String {
        let lines = steps.map { step in
            let place = "\(step.rule) (\(step.line):\(step.column))"
            let reason = step.reason.map { ": \($0)" } ?? ""
            return "  \(step.outcome.rawValue.padded(to: 5))  \(place)\(reason)"
        }
        return ([sentence] + lines).joined(separator: "\n")
    }
}

extension String {
    fileprivate func padded(to count: Int) -> String { self + String(repeating: " ", count: max(0, count - self.count)) }
}
