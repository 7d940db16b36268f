/// Type-checks and compiles a parsed expression.
///
/// Errors have the text of the hosted service where it is known (spec database 5.5).
struct ExpressionCompiler {
    /// A compiled part: its type, and its operator, or none for a part that only its parent uses.
    struct Operand {
        var op: Int32
        var type: StaticType
        var syntax: Int

        static let none: Int32 = -1
    }

    let text: [UInt8]
    let nodes: [Syntax]
    let scope: RuleScope
    let limits: RuleLimits
    var builder: ProgramBuilder

    /// Compiles the expression `text` and returns its operator.
    static func compile(
        _ text: [UInt8], scope: RuleScope, limits: RuleLimits, into builder: inout ProgramBuilder
    ) throws(ExpressionError) -> Int32 {
        let parsed = try ExpressionParser.parse(text, depthMax: limits.expressionDepthMax)
        var compiler = ExpressionCompiler(text: text, nodes: parsed.nodes, scope: scope, limits: limits, builder: builder)
        // Moves the builder, so that its tables have one owner and grow in place.
        builder = ProgramBuilder()
        let whole = try compiler.operand(parsed.root)
        guard whole.type == .boolean else { throw compiler.failure("Expression must evaluate to a boolean.", at: parsed.root) }
        builder = compiler.builder
        return whole.op
    }

    func failure(_ text: String, at syntax: Int) -> ExpressionError {
        ExpressionError(text, at: nodes[syntax].range.lowerBound)
    }

    mutating func emit(_ op: Op, _ type: StaticType, _ syntax: Int) -> Operand {
        Operand(op: builder.add(op, nodes[syntax].range), type: type, syntax: syntax)
    }

    mutating func operand(_ index: Int) throws(ExpressionError) -> Operand {
        switch nodes[index].kind {
        case .null: return emit(Op(code: .null), .null, index)
        case .boolean(let value): return emit(Op(code: .boolean, a: value ? 1 : 0), .boolean, index)
        case .number(let value): return emit(Op(code: .number, a: builder.add(number: value)), .number, index)
        case .string(let value): return emit(Op(code: .string, a: builder.add(string: value)), .string, index)
        case .pattern: return Operand(op: Operand.none, type: .pattern, syntax: index)
        case .list: return Operand(op: Operand.none, type: .list, syntax: index)
        case .name(let name): return try variable(name, index)
        case .member(let receiver, let name, let nameStart): return try member(try operand(receiver), name, nameStart, index)
        case .subscripted(let receiver, let key): return try subscripted(receiver, key, index)
        case .call(let callee, let arguments): return try call(callee, arguments, index)
        case .not(let inner):
            let operand = try operand(inner)
            guard operand.type == .boolean else { throw failure("! only operates on booleans.", at: inner) }
            return emit(Op(code: .not, a: operand.op), .boolean, index)
        case .negated(let inner):
            let operand = try operand(inner)
            guard operand.type.mayBeNumber else { throw failure("- only operates on numbers.", at: inner) }
            return emit(Op(code: .negate, a: operand.op), .number, index)
        case .arithmetic(let mark, let left, let right): return try arithmetic(mark, left, right, index)
        case .comparison(let mark, let left, let right): return try comparison(mark, left, right, index)
        case .logic(let mark, let operands): return try logic(mark, operands, index)
        case .conditional(let condition, let first, let second): return try conditional(condition, first, second, index)
        }
    }

    private mutating func variable(_ name: String, _ index: Int) throws(ExpressionError) -> Operand {
        switch name {
        case "auth": return emit(Op(code: .auth), .auth, index)
        case "now": return emit(Op(code: .now), .number, index)
        case "root": return emit(Op(code: .place, a: Op.Base.root.rawValue, c: -1), .snapshot, index)
        case "data": return emit(Op(code: .place, a: Op.Base.data.rawValue, c: -1), .snapshot, index)
        case "newData":
            guard scope.kind != .read else { throw failure("newData is invalid in .read expressions.", at: index) }
            return emit(Op(code: .place, a: Op.Base.newData.rawValue, c: -1), .snapshot, index)
        case "query":
            guard scope.kind == .read else { throw failure("query is invalid in \(scope.kind.rawValue) expressions.", at: index) }
            return Operand(op: Operand.none, type: .query, syntax: index)
        default:
            guard let depth = scope.captures[name] else { throw failure("Unknown variable '\(name)'.", at: index) }
            return emit(Op(code: .capture, a: Int32(depth)), .string, index)
        }
    }
}
