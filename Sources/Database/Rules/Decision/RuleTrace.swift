public import Tree

/// The reasons for a decision: every evaluated rule, in order, with its outcome.
public struct RuleTrace: Sendable, Hashable {
    /// The requested operation.
    public enum Operation: String, Sendable, Hashable {
        case read
        case write
    }

    /// The outcome of a rule.
    public enum Outcome: String, Sendable, Hashable {
        case holds = "true"
        case fails = "false"
        /// The evaluation failed, which counts as false.
        case error
    }

    /// One evaluated rule.
    public struct Step: Sendable, Hashable {
        /// Its location in the rules, such as `/users/$uid/.write`.
        public var rule: String
        /// The path that it was evaluated for.
        public var path: Path
        /// The expression.
        public var source: String
        /// The line of the expression in the document, from 1.
        public var line: Int
        /// The column in characters, from 1.
        public var column: Int
        /// The outcome.
        public var outcome: Outcome
        /// The part of the expression that decided, with its position: `auth is null, not a string, at 3:14`. Nil for a rule that is true.
        public var reason: String?
    }

    /// The requested operation.
    public var operation: Operation
    /// The path of the request.
    public var path: Path
    /// The decision; false also if the rules took too many steps.
    public var isAllowed: Bool
    /// The evaluated rules, in order.
    public var steps: [Step]
    /// One sentence for a person.
    public var sentence: String
}

extension RuleTrace: CustomStringConvertible {
    /// The sentence, and one line for each rule.
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
