/// A node of a parsed expression. Nodes stand in one array and name each other by index, so that a long chain of operators takes
/// no recursion to build or to free.
struct Syntax {
    enum Kind {
        case null
        case boolean(Bool)
        case number(Double)
        case string(String)
        case pattern(RuleToken.Pattern)
        case name(String)
        /// `receiver.name`, and `receiver['name']`, which means the same.
        case member(receiver: Int, name: String, nameStart: Int)
        case subscripted(receiver: Int, key: Int)
        case call(callee: Int, arguments: [Int])
        case list([Int])
        case not(Int)
        case negated(Int)
        case arithmetic(RuleToken.Mark, Int, Int)
        case comparison(RuleToken.Mark, Int, Int)
        /// Two or more operands of `&&` or `||` in a row.
        case logic(RuleToken.Mark, [Int])
        case conditional(Int, Int, Int)
    }

    var kind: Kind
    /// The bytes of the expression that this node covers.
    var range: Range<Int>
    /// How many levels of nodes are below, this one included.
    var height = 1
}
