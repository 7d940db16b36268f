/// A token of an expression.
struct RuleToken {
    enum Kind {
        case number(Double)
        case string(String)
        case pattern(Pattern)
        case name(String)
        case mark(Mark)
        case end
    }

    /// A regular expression between slashes; `range` excludes the slashes.
    struct Pattern: Hashable {
        var range: Range<Int>
        var ignoresCase: Bool
    }

    /// Operators and brackets.
    enum Mark: String {
        case open = "("
        case close = ")"
        case openBracket = "["
        case closeBracket = "]"
        case point = "."
        case comma = ","
        case question = "?"
        case colon = ":"
        case not = "!"
        case minus = "-"
        case plus = "+"
        case times = "*"
        case divide = "/"
        case remainder = "%"
        case and = "&&"
        case or = "||"
        case equal = "=="
        case notEqual = "!="
        case less = "<"
        case lessOrEqual = "<="
        case greater = ">"
        case greaterOrEqual = ">="
    }

    var kind: Kind
    var range: Range<Int>
}

/// The reason why an expression is refused, and the offset in its text.
struct ExpressionError: Error {
    var text: String
    var index: Int

    init(_ text: String, at index: Int) {
        self.text = text
        self.index = index
    }
}

/// A node of a parsed expression. Nodes are in one array and refer to each other by index, so that long chains of operators need no
/// recursion to build or free.
struct Syntax {
    enum Kind {
        case null
        case boolean(Bool)
        case number(Double)
        case string(String)
        case pattern(RuleToken.Pattern)
        case name(String)
        /// `receiver.name`, or `receiver['name']` with the same meaning.
        case member(receiver: Int, name: String, nameStart: Int)
        case subscripted(receiver: Int, key: Int)
        case call(callee: Int, arguments: [Int])
        case list([Int])
        case not(Int)
        case negated(Int)
        case arithmetic(RuleToken.Mark, Int, Int)
        case comparison(RuleToken.Mark, Int, Int)
        /// Two or more operands of consecutive `&&` or `||`.
        case logic(RuleToken.Mark, [Int])
        case conditional(Int, Int, Int)
    }

    var kind: Kind
    /// The range of the node in the expression.
    var range: Range<Int>
    /// The height of the subtree, including this node.
    var height = 1
}
