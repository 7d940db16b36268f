/// The static type of an expression (spec database 5.5).
enum StaticType {
    case null
    case boolean
    case number
    case string
    /// Known at evaluation only: the result of `val()` and `getPriority()`, or a choice of two types.
    case value
    /// `auth` and its members: like `value`, with members.
    case auth
    case snapshot
    case query
    /// `query.orderByChild`.
    case ordering
    case pattern
    case list
    /// A method without a call.
    case function

    /// Whether values of the type can be compared for equality.
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

/// The three kinds of rules with an expression.
enum RuleKind: String, Sendable {
    case read = ".read"
    case write = ".write"
    case validate = ".validate"
}

/// The names that an expression may use.
struct RuleScope {
    var kind: RuleKind
    /// The depth of the node that holds the rule.
    var depth: Int
    /// Captures such as `$name`, with the dollar sign, and the depth of the captured key, from 0.
    var captures: [String: Int]
}
