/// What is known of an expression's value when the rules are uploaded (spec database 5.5).
enum StaticType {
    case null
    case boolean
    case number
    case string
    /// Known when it is evaluated: what `val()` and `getPriority()` return, or a choice of two types.
    case value
    /// `auth` and what is below it: like `value`, and its members can be named.
    case auth
    case snapshot
    case query
    /// `query.orderByChild`.
    case ordering
    case pattern
    case list
    /// A method that is not called.
    case function

    /// Whether it can be compared for equality.
    var isComparable: Bool {
        switch self {
        case .null, .boolean, .number, .string, .value, .auth: true
        case .snapshot, .query, .ordering, .pattern, .list, .function: false
        }
    }

    var mayBeNumber: Bool { self == .number || isDynamic }
    var mayBeString: Bool { self == .string || isDynamic }
    var isDynamic: Bool { self == .value || self == .auth }
}

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
