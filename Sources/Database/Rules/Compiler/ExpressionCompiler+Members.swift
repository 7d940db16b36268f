import RegularExpressions

/// Members and methods.
extension ExpressionCompiler {
    private static let snapshotMethods: Set<String> = [
        "val", "child", "parent", "hasChild", "hasChildren", "exists", "isNumber", "isString", "isBoolean", "getPriority",
    ]
    private static let stringMethods: Set<String> = [
        "contains", "beginsWith", "endsWith", "replace", "toLowerCase", "toUpperCase", "matches",
    ]

    /// Compiles a member access that is not a method call.
    mutating func member(_ receiver: Operand, _ name: String, _ nameStart: Int, _ index: Int) throws(ExpressionError) -> Operand {
        switch receiver.type {
        case .string, .value:
            if name == "length" { return emit(Op(code: .length, a: receiver.op), .number, index) }
            if Self.stringMethods.contains(name) { return Operand(op: Operand.none, type: .function, syntax: index) }
        case .auth: return authMember(receiver, name, index)
        case .query:
            guard let field = Op.QueryField(name) else { break }
            return emit(Op(code: .queryField, a: field.rawValue), field.type, index)
        case .snapshot:
            if Self.snapshotMethods.contains(name) { return Operand(op: Operand.none, type: .function, syntax: index) }
        case .null, .boolean, .number, .ordering, .pattern, .list, .function: break
        }
        throw unknown(name, nameStart)
    }

    private func unknown(_ name: String, _ start: Int) -> ExpressionError {
        ExpressionError("No such method/property '\(name)'.", at: start)
    }

    private mutating func authMember(_ receiver: Operand, _ name: String, _ index: Int) -> Operand {
        if name == "length" { return emit(Op(code: .length, a: receiver.op), .auth, index) }
        let op = builder.ops[Int(receiver.op)]
        switch op.code {
        case .auth where name == "uid": return emit(Op(code: .authUID), .auth, index)
        case .auth: return emit(Op(code: .authPath, a: builder.add(names: [name])), .auth, index)
        case .authPath:
            let names = builder.names[Int(op.a)] + [name]
            return emit(Op(code: .authPath, a: builder.add(names: names)), .auth, index)
        default: return emit(Op(code: .member, a: receiver.op, b: builder.add(string: name)), .auth, index)
        }
    }

    mutating func subscripted(_ receiver: Int, _ key: Int, _ index: Int) throws(ExpressionError) -> Operand {
        let operands = (try operand(receiver), try operand(key))
        guard operands.0.type == .auth, operands.1.type.mayBeString || operands.1.type.mayBeNumber else {
            throw failure("Invalid property access.", at: operands.0.type == .auth ? key : receiver)
        }
        return emit(Op(code: .subscripted, a: operands.0.op, b: operands.1.op), .auth, index)
    }

    mutating func call(_ callee: Int, _ arguments: [Int], _ index: Int) throws(ExpressionError) -> Operand {
        guard case .member(let target, let name, let nameStart) = nodes[callee].kind else {
            _ = try operand(callee)
            throw notAFunction(callee)
        }
        let receiver = try operand(target)
        switch receiver.type {
        case .snapshot where Self.snapshotMethods.contains(name): return try snapshotCall(receiver, name, arguments, index)
        case .string, .value, .auth:
            if Self.stringMethods.contains(name) { return try stringCall(receiver, name, arguments, index) }
            // `auth` accepts any member name, but none of its members is a method.
            if name == "length" || receiver.type == .auth { throw notAFunction(callee) }
        case .query where Op.QueryField(name) != nil: throw notAFunction(callee)
        case .null, .boolean, .number, .ordering, .pattern, .list, .function: throw notAFunction(callee)
        case .snapshot, .query: break
        }
        throw unknown(name, nameStart)
    }

    private func notAFunction(_ callee: Int) -> ExpressionError {
        failure("Type error: Function call on target that is not a function.", at: callee)
    }

    private func expect(_ count: Int, _ arguments: [Int], of name: String, _ index: Int) throws(ExpressionError) {
        guard arguments.count != count else { return }
        let counted = count == 0 ? "no arguments" : count == 1 ? "1 argument" : "\(count) arguments"
        throw failure("\(name)() expects \(counted).", at: index)
    }

    /// The single argument of a method that takes a string.
    private mutating func stringArgument(_ arguments: [Int], of name: String, _ index: Int) throws(ExpressionError) -> Operand {
        try expect(1, arguments, of: name, index)
        let argument = try operand(arguments[0])
        guard argument.type.mayBeString else { throw failure("\(name)() expects a string argument.", at: arguments[0]) }
        return argument
    }

    // MARK: Snapshots

    private mutating func snapshotCall(
        _ receiver: Operand, _ name: String, _ arguments: [Int], _ index: Int
    ) throws(ExpressionError) -> Operand {
        switch name {
        case "child": return child(receiver, try stringArgument(arguments, of: name, index), index)
        case "hasChild":
            let place = child(receiver, try stringArgument(arguments, of: name, index), index)
            return emit(Op(code: .exists, a: place.op), .boolean, index)
        case "hasChildren" where !arguments.isEmpty: return try hasChildren(receiver, arguments, index)
        default: break
        }
        try expect(0, arguments, of: name, index)
        switch name {
        case "parent": return parent(receiver, index)
        case "val": return emit(Op(code: .val, a: receiver.op), .value, index)
        case "getPriority": return emit(Op(code: .priority, a: receiver.op), .value, index)
        case "hasChildren": return emit(Op(code: .hasChildren, a: receiver.op), .boolean, index)
        case "isNumber": return emit(Op(code: .isNumber, a: receiver.op), .boolean, index)
        case "isString": return emit(Op(code: .isString, a: receiver.op), .boolean, index)
        case "isBoolean": return emit(Op(code: .isBoolean, a: receiver.op), .boolean, index)
        default: return emit(Op(code: .exists, a: receiver.op), .boolean, index)
        }
    }

    /// Joins a literal argument with preceding literals, so that a constant path is one step.
    private mutating func child(_ receiver: Operand, _ argument: Operand, _ index: Int) -> Operand {
        var op = builder.ops[Int(receiver.op)]
        guard op.code == .place, case .string(let text) = nodes[argument.syntax].kind else {
            return emit(Op(code: .child, a: receiver.op, b: argument.op), .snapshot, index)
        }
        var path = op.c < 0 ? ConstantPath() : builder.paths[Int(op.c)]
        path.descend(text)
        op.c = builder.add(path: path)
        return emit(op, .snapshot, index)
    }

    private mutating func parent(_ receiver: Operand, _ index: Int) -> Operand {
        var op = builder.ops[Int(receiver.op)]
        let isAboveRule = op.code == .place && op.a != Op.Base.root.rawValue && op.c < 0 && Int(op.b) < scope.depth
        guard isAboveRule else { return emit(Op(code: .parent, a: receiver.op), .snapshot, index) }
        op.b += 1
        return emit(op, .snapshot, index)
    }

    private mutating func hasChildren(_ receiver: Operand, _ arguments: [Int], _ index: Int) throws(ExpressionError) -> Operand {
        guard arguments.count == 1 else {
            throw failure("hasChildren() expects only a single argument (containing an array of child names).", at: index)
        }
        guard case .list(let elements) = nodes[arguments[0]].kind else {
            throw failure("hasChildren() expects an array of child names.", at: arguments[0])
        }
        var ops: [Int32] = []
        for element in elements {
            let operand = try operand(element)
            guard operand.type.mayBeString else { throw failure("hasChildren() expects an array of strings.", at: element) }
            ops.append(operand.op)
        }
        let first = builder.add(operands: ops)
        return emit(Op(code: .hasChildrenNamed, a: receiver.op, b: first, c: Int32(ops.count)), .boolean, index)
    }

    // MARK: Strings

    private mutating func stringCall(
        _ receiver: Operand, _ name: String, _ arguments: [Int], _ index: Int
    ) throws(ExpressionError) -> Operand {
        switch name {
        case "toLowerCase", "toUpperCase":
            try expect(0, arguments, of: name, index)
            return emit(Op(code: name == "toLowerCase" ? .lowercased : .uppercased, a: receiver.op), .string, index)
        case "replace": return try replace(receiver, arguments, index)
        case "matches": return try matches(receiver, arguments, index)
        default:
            let argument = try stringArgument(arguments, of: name, index)
            let code: Op.Code = name == "contains" ? .contains : name == "beginsWith" ? .beginsWith : .endsWith
            return emit(Op(code: code, a: receiver.op, b: argument.op), .boolean, index)
        }
    }

    private mutating func replace(_ receiver: Operand, _ arguments: [Int], _ index: Int) throws(ExpressionError) -> Operand {
        try expect(2, arguments, of: "replace", index)
        let operands = (try operand(arguments[0]), try operand(arguments[1]))
        for (number, operand) in [(1, operands.0), (2, operands.1)] where !operand.type.mayBeString {
            throw failure("Argument \(number) of replace() must be a string.", at: operand.syntax)
        }
        return emit(Op(code: .replace, a: receiver.op, b: operands.0.op, c: operands.1.op), .string, index)
    }

    private mutating func matches(_ receiver: Operand, _ arguments: [Int], _ index: Int) throws(ExpressionError) -> Operand {
        try expect(1, arguments, of: "matches", index)
        guard case .pattern(let pattern) = nodes[arguments[0]].kind else {
            _ = try operand(arguments[0])
            throw failure("matches() expects a regular expression literal argument.", at: arguments[0])
        }
        let source = try PatternTranslator.translate(text, pattern.range)
        do throws(RegularExpression.Refusal) {
            let compiled = try builder.add(pattern: source, ignoresCase: pattern.ignoresCase, sizeMax: limits.patternSizeMax)
            return emit(Op(code: .matches, a: receiver.op, b: compiled), .boolean, index)
        } catch {
            throw failure("Invalid regular expression: \(error.reason).", at: arguments[0])
        }
    }
}
