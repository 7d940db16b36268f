import HearthBytes
import Tree

/// Records evaluated rules for a trace.
struct TraceRecorder {
    private static let stepsMax = 64

    private let rules: RuleSet
    private let operation: RuleTrace.Operation
    private let path: Path
    private var steps: [RuleTrace.Step] = []
    private var kinds: [RuleKind] = []

    init(rules: RuleSet, operation: RuleTrace.Operation, path: Path) {
        self.rules = rules
        self.operation = operation
        self.path = path
    }

    /// Whether further rules that are true are left out.
    var isFull: Bool { steps.count >= Self.stepsMax }

    mutating func record(_ rule: CompiledRule, isTrue: Bool, _ evaluator: inout Evaluator) throws(UnreadableData) {
        // If there are very many rules, record only those that deny.
        guard !isFull || !isTrue, steps.count < Self.stepsMax * 2 else { return }
        let start = rules.text.position(at: rule.text.offset(of: 0))
        let outcome: RuleTrace.Outcome = isTrue ? .holds : evaluator.fault == nil ? .fails : .error
        var step = RuleTrace.Step(
            rule: "/" + (rule.pattern + [rule.kind.rawValue]).joined(separator: "/"),
            path: Path(Array(evaluator.names.prefix(evaluator.depth))), source: rule.text.string, line: start.line, column: start.column,
            outcome: outcome)
        if !isTrue {
            step.reason = Explanation(rules: rules, rule: rule).reason(&evaluator)
            // The explanation reads again.
            try evaluator.checkData()
        }
        steps.append(step)
        kinds.append(rule.kind)
    }

    func concluded(isAllowed: Bool, isOverBudget: Bool) -> RuleTrace {
        RuleTrace(
            operation: operation, path: path, isAllowed: isAllowed && !isOverBudget, steps: steps,
            sentence: isOverBudget ? overBudget : isAllowed ? allowed : denied)
    }

    private var subject: String { operation == .read ? "Reading \(path)" : "Writing \(path)" }

    private var overBudget: String {
        "\(subject) is denied: its rules took more than \(rules.limits.stepsMax) steps."
    }

    private var allowed: String {
        guard let grant = steps.indices.last(where: { steps[$0].outcome == .holds && kinds[$0] != .validate }) else {
            return "\(subject) is allowed."
        }
        return "\(subject) is allowed by \(steps[grant].place)."
    }

    private var denied: String {
        if let refusal = steps.indices.first(where: { steps[$0].outcome != .holds && kinds[$0] == .validate }) {
            return "\(subject) is denied: \(steps[refusal].complaint)."
        }
        let kind = operation == .read ? RuleKind.read : .write
        guard let last = steps.last else {
            return "\(subject) is denied: no \(kind.rawValue) rule applies at or above it, and without one access is denied."
        }
        if steps.count == 1 { return "\(subject) is denied: \(last.complaint)." }
        return "\(subject) is denied: none of \(steps.count) \(kind.rawValue) rules is true; the last, \(last.complaint)."
    }
}

extension RuleTrace.Step {
    fileprivate var place: String { "\(rule) at \(line):\(column)" }

    fileprivate var complaint: String {
        let verb = outcome == .error ? "fails" : "is false"
        return reason.map { "\(place) \(verb) because \($0)" } ?? "\(place) \(verb)"
    }
}

extension Optional where Wrapped == TraceRecorder {
    /// Moves the recorder out.
    mutating func take() -> TraceRecorder? {
        defer { self = nil }
        return self
    }
}
