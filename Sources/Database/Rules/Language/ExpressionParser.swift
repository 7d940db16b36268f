/// Parses an expression by operator precedence (spec database 5.2).
struct ExpressionParser {
    private var lexer: Lexer
    private let depthMax: Int
    private var depth = 0
    private var nodes: [Syntax] = []

    /// Parses an expression; returns its nodes and the index of the root.
    static func parse(_ text: [UInt8], depthMax: Int) throws(ExpressionError) -> (nodes: [Syntax], root: Int) {
        var parser = ExpressionParser(lexer: Lexer(text), depthMax: depthMax)
        let root = try parser.expression()
        guard case .end = try parser.lexer.operator().kind else { throw parser.lexer.unexpected() }
        return (parser.nodes, root)
    }

    private init(lexer: Lexer, depthMax: Int) {
        self.lexer = lexer
        self.depthMax = depthMax
    }

    private mutating func add(_ kind: Syntax.Kind, _ range: Range<Int>, over children: [Int] = []) throws(ExpressionError) -> Int {
        let height = 1 + (children.map { nodes[$0].height }.max() ?? 0)
        guard height <= depthMax else { throw tooDeep(at: range.lowerBound) }
        nodes.append(Syntax(kind: kind, range: range, height: height))
        return nodes.count - 1
    }

    private func tooDeep(at index: Int) -> ExpressionError { ExpressionError("Rule expression is nested too deeply.", at: index) }

    private func span(_ first: Int, _ last: Int) -> Range<Int> { nodes[first].range.lowerBound..<nodes[last].range.upperBound }

    /// Runs `body` one nesting level deeper.
    private mutating func nested(
        _ body: (inout ExpressionParser) throws(ExpressionError) -> Int
    ) throws(ExpressionError) -> Int {
        guard depth < depthMax else { throw tooDeep(at: lexer.position) }
        depth += 1
        defer { depth -= 1 }
        return try body(&self)
    }

    private mutating func expression() throws(ExpressionError) -> Int {
        try nested { parser throws(ExpressionError) in
            let condition = try parser.binary(above: 0)
            let mark = try parser.lexer.operator()
            guard case .mark(.question) = mark.kind else { return condition }
            parser.lexer.take(mark)
            let first = try parser.expression()
            try parser.expect(.colon, "missing : in conditional expression")
            let second = try parser.expression()
            let children = [condition, first, second]
            return try parser.add(.conditional(condition, first, second), parser.span(condition, second), over: children)
        }
    }

    private static func precedence(_ mark: RuleToken.Mark) -> Int? {
        switch mark {
        case .or: 1
        case .and: 2
        case .equal, .notEqual: 3
        case .less, .lessOrEqual, .greater, .greaterOrEqual: 4
        case .plus, .minus: 5
        case .times, .divide, .remainder: 6
        default: nil
        }
    }

    /// Parses operands joined by operators that bind more tightly than `floor`.
    private mutating func binary(above floor: Int) throws(ExpressionError) -> Int {
        try nested { parser throws(ExpressionError) in
            var left = try parser.unary()
            while true {
                let token = try parser.lexer.operator()
                guard case .mark(let mark) = token.kind, let precedence = Self.precedence(mark), precedence > floor else { return left }
                parser.lexer.take(token)
                let right = try parser.binary(above: precedence)
                left = try parser.join(left, mark, right)
            }
        }
    }

    private mutating func join(_ left: Int, _ mark: RuleToken.Mark, _ right: Int) throws(ExpressionError) -> Int {
        let range = span(left, right)
        switch mark {
        case .and, .or:
            guard case .logic(mark, var operands) = nodes[left].kind else {
                return try add(.logic(mark, [left, right]), range, over: [left, right])
            }
            // Appends an operand to the node; it is moved out meanwhile, so that its list grows in place.
            nodes[left].kind = .null
            operands.append(right)
            nodes[left] = Syntax(kind: .logic(mark, operands), range: range, height: max(nodes[left].height, nodes[right].height + 1))
            guard nodes[left].height <= depthMax else { throw tooDeep(at: range.lowerBound) }
            return left
        case .plus, .minus, .times, .divide, .remainder: return try add(.arithmetic(mark, left, right), range, over: [left, right])
        default: return try add(.comparison(mark, left, right), range, over: [left, right])
        }
    }

    private mutating func unary() throws(ExpressionError) -> Int {
        let token = try lexer.operand()
        guard case .mark(let mark) = token.kind, mark == .not || mark == .minus else { return try postfix(try primary(token)) }
        lexer.take(token)
        let operand = try nested { parser throws(ExpressionError) in try parser.unary() }
        let range = token.range.lowerBound..<nodes[operand].range.upperBound
        if mark == .minus, case .number(let value) = nodes[operand].kind { return try add(.number(-value), range) }
        return try add(mark == .not ? .not(operand) : .negated(operand), range, over: [operand])
    }

    private mutating func primary(_ token: RuleToken) throws(ExpressionError) -> Int {
        switch token.kind {
        case .number(let value):
            lexer.take(token)
            return try add(.number(value), token.range)
        case .string(let value):
            lexer.take(token)
            return try add(.string(value), token.range)
        case .pattern(let pattern):
            lexer.take(token)
            return try add(.pattern(pattern), token.range)
        case .name(let name): return try named(name, token)
        case .mark(.open):
            lexer.take(token)
            let inner = try expression()
            try expect(.close, "missing ) in parenthetical")
            return inner
        case .mark(.openBracket):
            lexer.take(token)
            let elements = try arguments(upTo: .closeBracket, "missing ] after element list")
            return try add(.list(elements), token.range.lowerBound..<lexer.position, over: elements)
        case .mark, .end: throw lexer.unexpected()
        }
    }

    /// Keywords of JavaScript that rules cannot use.
    private static let reserved: Set<String> = [
        "break", "case", "class", "const", "continue", "delete", "do", "else", "for", "function", "if", "in", "instanceof", "let", "new",
        "return", "switch", "this", "throw", "try", "typeof", "var", "void", "while", "with", "yield",
    ]

    private mutating func named(_ name: String, _ token: RuleToken) throws(ExpressionError) -> Int {
        guard !Self.reserved.contains(name) else { throw lexer.unexpected() }
        lexer.take(token)
        switch name {
        case "true": return try add(.boolean(true), token.range)
        case "false": return try add(.boolean(false), token.range)
        case "null": return try add(.null, token.range)
        default: return try add(.name(name), token.range)
        }
    }

    private mutating func postfix(_ first: Int) throws(ExpressionError) -> Int {
        var node = first
        while true {
            let token = try lexer.operator()
            guard case .mark(let mark) = token.kind else { return node }
            let start = nodes[node].range.lowerBound
            switch mark {
            case .point:
                lexer.take(token)
                let name = try lexer.memberName()
                lexer.take(name)
                guard case .name(let text) = name.kind else { return node }
                let kind = Syntax.Kind.member(receiver: node, name: text, nameStart: name.range.lowerBound)
                node = try add(kind, start..<lexer.position, over: [node])
            case .open:
                lexer.take(token)
                let values = try arguments(upTo: .close, "missing ) after argument list")
                node = try add(.call(callee: node, arguments: values), start..<lexer.position, over: [node] + values)
            case .openBracket:
                lexer.take(token)
                let key = try expression()
                try expect(.closeBracket, "missing ] in index expression")
                node = try subscripted(node, key)
            default: return node
            }
        }
    }

    private mutating func subscripted(_ receiver: Int, _ key: Int) throws(ExpressionError) -> Int {
        let range = nodes[receiver].range.lowerBound..<lexer.position
        if case .string(let name) = nodes[key].kind {
            let start = nodes[key].range.lowerBound
            return try add(.member(receiver: receiver, name: name, nameStart: start), range, over: [receiver])
        }
        return try add(.subscripted(receiver: receiver, key: key), range, over: [receiver, key])
    }

    /// Parses the contents of a call or a list, including the closing bracket.
    private mutating func arguments(upTo end: RuleToken.Mark, _ complaint: String) throws(ExpressionError) -> [Int] {
        var values: [Int] = []
        if case .mark(end) = try lexer.operand().kind {
            lexer.take(try lexer.operand())
            return values
        }
        while true {
            values.append(try expression())
            let token = try lexer.operator()
            guard case .mark(.comma) = token.kind else {
                try expect(end, complaint)
                return values
            }
            lexer.take(token)
        }
    }

    private mutating func expect(_ mark: RuleToken.Mark, _ complaint: String) throws(ExpressionError) {
        let token = try lexer.operator()
        guard case .mark(mark) = token.kind else { throw ExpressionError(complaint, at: lexer.position) }
        lexer.take(token)
    }
}
