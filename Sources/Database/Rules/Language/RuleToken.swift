/// A word of an expression.
struct RuleToken {
    enum Kind {
        case number(Double)
        case string(String)
        case pattern(Pattern)
        case name(String)
        case mark(Mark)
        case end
    }

    /// A regular expression between slashes; `range` is what stands between them.
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

/// Why an expression is refused, and at which byte of its text.
struct ExpressionError: Error {
    var text: String
    var index: Int

    init(_ text: String, at index: Int) {
        self.text = text
        self.index = index
    }
}

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
