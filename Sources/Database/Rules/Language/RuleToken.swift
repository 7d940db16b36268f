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
