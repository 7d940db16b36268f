extension ExpressionCompiler {
    mutating func logic(_ mark: RuleToken.Mark, _ operands: [Int], _ index: Int) throws(ExpressionError) -> Operand {
        var ops: [Int32] = []
        for (number, syntax) in operands.enumerated() {
            let operand = try operand(syntax)
            guard operand.type == .boolean else {
                throw failure("\(number == 0 ? "Left" : "Right") operand of \(mark.rawValue) must be boolean.", at: syntax)
            }
            ops.append(operand.op)
        }
        let code: Op.Code = mark == .and ? .and : .or
        return emit(Op(code: code, a: builder.add(operands: ops), b: Int32(ops.count)), .boolean, index)
    }

    mutating func conditional(_ condition: Int, _ first: Int, _ second: Int, _ index: Int) throws(ExpressionError) -> Operand {
        let test = try operand(condition)
        guard test.type == .boolean else { throw failure("condition of ? must be boolean.", at: condition) }
        let left = try operand(first)
        let right = try operand(second)
        let type: StaticType
        if left.type == right.type, left.type.isComparable || left.type == .snapshot {
            type = left.type
        } else if left.type.isComparable, right.type.isComparable {
            type = .value
        } else {
            throw failure("Invalid ? expression: the two results are of different types.", at: second)
        }
        return emit(Op(code: .conditional, a: test.op, b: left.op, c: right.op), type, index)
    }

    mutating func arithmetic(_ mark: RuleToken.Mark, _ left: Int, _ right: Int, _ index: Int) throws(ExpressionError) -> Operand {
        let operands = (try operand(left), try operand(right))
        let isSum = mark == .plus
        let kinds = isSum ? "a number or string" : "a number"
        for (side, operand) in [("left", operands.0), ("right", operands.1)] {
            let fits = operand.type.mayBeNumber || isSum && operand.type.mayBeString
            guard fits else {
                throw failure("Invalid \(mark.rawValue) expression: \(side) operand is not \(kinds).", at: operand.syntax)
            }
        }
        let code: Op.Code
        switch mark {
        case .plus: code = .add
        case .minus: code = .subtract
        case .times: code = .multiply
        case .divide: code = .divide
        default: code = .remainder
        }
        var type = StaticType.number
        if isSum {
            if operands.0.type == .string || operands.1.type == .string {
                type = .string
            } else if operands.0.type.isDynamic || operands.1.type.isDynamic {
                type = .value
            }
        }
        return emit(Op(code: code, a: operands.0.op, b: operands.1.op), type, index)
    }

    mutating func comparison(_ mark: RuleToken.Mark, _ left: Int, _ right: Int, _ index: Int) throws(ExpressionError) -> Operand {
        let operands = (try operand(left), try operand(right))
        guard mark == .equal || mark == .notEqual else { return try ordering(mark, operands.0, operands.1, index) }
        let prefix = "Invalid \(mark.rawValue) expression:"
        if operands.0.type == .ordering || operands.1.type == .ordering {
            for (side, operand) in [("left", operands.0), ("right", operands.1)] where !isOrderingOperand(operand) {
                let text = "\(side) operand must be an ordering or string literal when comparing against an ordering."
                throw failure("\(prefix) \(text)", at: operand.syntax)
            }
        } else {
            // The hosted compiler's text has no "or" here.
            let conjunction = mark == .equal ? "" : "or "
            guard operands.0.type.isComparable else {
                throw failure("\(prefix) left operand is not a number, boolean, string, \(conjunction)null.", at: left)
            }
            guard operands.1.type.isComparable else {
                throw failure("\(prefix) right operand is not a number, boolean, string, or null.", at: right)
            }
        }
        return equality(isEqual: mark == .equal, operands.0, operands.1, index)
    }

    private func isOrderingOperand(_ operand: Operand) -> Bool {
        switch nodes[operand.syntax].kind {
        case .string, .null: true
        default: operand.type == .ordering
        }
    }

    /// A comparison of stored data with null only tests existence.
    private mutating func equality(isEqual: Bool, _ left: Operand, _ right: Operand, _ index: Int) -> Operand {
        let (value, other) = builder.ops[Int(right.op)].code == .null ? (left, right) : (right, left)
        let op = builder.ops[Int(value.op)]
        if builder.ops[Int(other.op)].code == .null, op.code == .val {
            return emit(Op(code: isEqual ? .isAbsent : .exists, a: op.a), .boolean, index)
        }
        return emit(Op(code: isEqual ? .equal : .notEqual, a: left.op, b: right.op), .boolean, index)
    }

    private mutating func ordering(
        _ mark: RuleToken.Mark, _ left: Operand, _ right: Operand, _ index: Int
    ) throws(ExpressionError) -> Operand {
        for (side, operand) in [("left", left), ("right", right)] where !(operand.type.mayBeNumber || operand.type.mayBeString) {
            throw failure("Invalid \(mark.rawValue) expression: \(side) operand must be a number or string.", at: operand.syntax)
        }
        let code: Op.Code
        switch mark {
        case .less: code = .less
        case .lessOrEqual: code = .lessOrEqual
        case .greater: code = .greater
        default: code = .greaterOrEqual
        }
        return emit(Op(code: code, a: left.op, b: right.op), .boolean, index)
    }
}
