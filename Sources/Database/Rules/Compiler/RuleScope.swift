/// The three rules that have an expression.
enum RuleKind: String, Sendable {
    case read = ".read"
    case write = ".write"
    case validate = ".validate"
}

/// What an expression may name.
struct RuleScope {
    var kind: RuleKind
    /// How many keys lead to the node that holds the rule.
    var depth: Int
    /// `$name`, dollar included, and the depth of the key that it stands for, from 0.
    var captures: [String: Int]
}
