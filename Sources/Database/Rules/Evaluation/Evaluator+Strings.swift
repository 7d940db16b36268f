import RegularExpressions
import HearthJSON

/// Methods of strings.
extension Evaluator {
    mutating func compared(_ op: Op) throws(Fault) -> Bool {
        let text = try string(op.a)
        let part = try string(op.b)
        switch op.code {
        case .contains:
            try take(text.utf8.count / RuleBudget.textBytesPerStep, at: op.a)
            return RuleText.contains(text, part)
        case .beginsWith: return RuleText.begins(text, with: part)
        default: return RuleText.ends(text, with: part)
        }
    }

    /// RE2 scans the text once, in the worst case with all states of the pattern at each byte.
    mutating func matches(_ op: Op) throws(Fault) -> Bool {
        let text = try string(op.a)
        let pattern = program.patterns[Int(op.b)]
        try take(text.utf8.count * (1 + pattern.size / 64) / RuleBudget.textBytesPerStep, at: op.a)
        return pattern.matches(text)
    }

    mutating func length(_ index: Int32) throws(Fault) -> RuleValue {
        switch try value(index) {
        case .string(let text):
            try take(text.utf8.count / RuleBudget.textBytesPerStep, at: index)
            return .number(Double(text.utf16.count))
        case .json(let object): return RuleValue(object["length"])
        case let found: throw Fault(reason: .needsString, op: index, found: found.kind)
        }
    }

    mutating func changed(_ op: Op, _ index: Int32) throws(Fault) -> RuleValue {
        let text = try string(op.a)
        // Case conversion processes each character of the text.
        try take(text.utf8.count, at: index)
        switch op.code {
        case .lowercased: return .string(text.lowercased())
        case .uppercased: return .string(text.uppercased())
        default:
            let part = try string(op.b)
            let replacement = try string(op.c)
            guard let result = RuleText.replacing(part, in: text, by: replacement, bytesMax: stringBytesMax) else {
                throw Fault(reason: .tooLong, op: index)
            }
            try take(result.utf8.count / RuleBudget.textBytesPerStep, at: index)
            return .string(result)
        }
    }
}
