import HearthBytes

/// Finds the part of a rule's expression that made it false.
struct Explanation {
    let rules: RuleSet
    let rule: CompiledRule

    private static let valueLengthMax = 60

    /// The reason for the last outcome of the rule.
    func reason(_ evaluator: inout Evaluator) -> String? {
        if let fault = evaluator.fault { return text(of: fault, evaluator) }
        let steps = evaluator.stepsLeft
        defer { evaluator.stepsLeft = steps }
        return falseReason(rule.root, &evaluator)
    }

    private func position(_ op: Int32) -> String {
        let index = Int(rules.program.ranges[Int(op)].lowerBound)
        let position = rules.text.position(at: rule.text.offset(of: index))
        return "\(position.line):\(position.column)"
    }

    private func excerpt(_ op: Int32) -> String {
        let range = rules.program.ranges[Int(op)]
        let words = rule.text.excerpt(Int(range.lowerBound)..<Int(range.upperBound)).split(whereSeparator: \.isWhitespace)
        return words.joined(separator: " ")
    }

    // MARK: False

    /// Descends to the first false operand of `&&`; other operators are shown as a whole.
    private func falseReason(_ op: Int32, _ evaluator: inout Evaluator) -> String? {
        let node = rules.program.ops[Int(op)]
        switch node.code {
        case .boolean: return nil
        case .and:
            for index in node.a..<node.a + node.b {
                let operand = rules.program.operands[Int(index)]
                if evaluator.evaluateAgain(operand) == false { return falseReason(operand, &evaluator) ?? simple(operand) }
            }
        case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual:
            let values = (evaluator.valueAgain(node.a), evaluator.valueAgain(node.b))
            let shown = [(node.a, values.0), (node.b, values.1)].compactMap { operand, value in
                isLiteral(operand) ? nil : value.map { "\(excerpt(operand)) is \(Self.shown($0))" }
            }
            if !shown.isEmpty { return "\(simple(op)) (\(shown.joined(separator: ", ")))" }
        default: break
        }
        return simple(op)
    }

    private func simple(_ op: Int32) -> String { "\(excerpt(op)) is false at \(position(op))" }

    private func isLiteral(_ op: Int32) -> Bool {
        switch rules.program.ops[Int(op)].code {
        case .null, .boolean, .number, .string: true
        default: false
        }
    }

    private static func shown(_ value: RuleValue) -> String {
        switch value {
        case .null: "null"
        case .boolean(let value): value ? "true" : "false"
        case .string(let text): text.count > valueLengthMax ? "'\(text.prefix(valueLengthMax))…'" : "'\(text)'"
        case .number, .integer: value.joined ?? "a number"
        case .json, .object: "an object"
        }
    }

    // MARK: Errors

    private func text(of fault: Fault, _ evaluator: borrowing Evaluator) -> String {
        let place = position(fault.op)
        let subject = subject(fault.op, evaluator)
        let found = "\(subject) is \(Self.phrase(fault.found))"
        switch fault.reason {
        case .needsString: return "\(found) at \(place), where a string is needed"
        case .needsNumber: return "\(found) at \(place), where a number is needed"
        case .needsNumberOrString: return "\(found) at \(place), where a number or a string is needed"
        case .needsBoolean: return "\(found) at \(place), where a boolean is needed"
        case .needsSameType: return "\(excerpt(fault.op)) at \(place) compares a number with a string"
        case .noParent: return "\(excerpt(fault.op)) at \(place) goes above the root"
        case .tooLong: return "\(excerpt(fault.op)) at \(place) makes a string that is too long"
        case .overBudget: return "the rules took too many steps"
        case .unreadable: return "\(excerpt(fault.op)) at \(place) cannot be read"
        }
    }

    /// The expression that is null: `auth` itself, when no user is signed in.
    private func subject(_ op: Int32, _ evaluator: borrowing Evaluator) -> String {
        switch rules.program.ops[Int(op)].code {
        case .authUID, .authPath: evaluator.context.auth == nil ? "auth" : excerpt(op)
        default: excerpt(op)
        }
    }

    private static func phrase(_ kind: RuleValue.Kind) -> String {
        switch kind {
        case .null: "null"
        case .boolean: "a boolean"
        case .number: "a number"
        case .string: "a string"
        case .object: "an object"
        }
    }
}
