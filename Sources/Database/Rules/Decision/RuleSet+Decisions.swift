public import Tree

extension RuleSet {
    /// Decides whether `path` may be read: a `.read` rule on the path is true.
    ///
    /// - Parameters:
    ///   - query: the query, unless the whole node is read.
    ///   - data: the current tree.
    ///   - explains: whether to record the evaluated rules in the verdict.
    public func read(
        _ path: Path, query: Query?, context: RuleContext, data: some RuleData, explains: Bool = false
    ) -> RuleVerdict {
        judgeRead(path, query, context, data, explains)
    }

    /// Whether the result of ``read(_:query:context:data:explains:)`` for `path` may change with data and time. Otherwise it holds as long
    /// as these rules and the token.
    public func readDependsOnState(_ path: Path) -> Bool {
        var node = root
        var depth = 0
        while true {
            if node.read?.dependsOnState == true { return true }
            guard depth < path.count, let child = node.child(path.segments[depth]) else { return false }
            node = child
            depth += 1
        }
    }

    /// Decides whether `value` may be written at `path`: a `.write` rule on the path is true, and so is every `.validate` on the path and
    /// in the value, except where nothing remains.
    ///
    /// - Parameters:
    ///   - value: the new value at `path`, with server values resolved; empty to delete.
    ///   - old: the current tree.
    ///   - new: the tree after the whole request.
    ///   - explains: whether to record the evaluated rules in the verdict.
    public func write(
        _ path: Path, value: Node, context: RuleContext, old: some RuleData, new: some RuleData, explains: Bool = false
    ) -> RuleVerdict {
        var budget = RuleBudget(steps: limits.stepsMax)
        return write(path, value: value, context: context, old: old, new: new, explains: explains, budget: &budget)
    }

    /// Decides about one path of a multi-path write. The paths share a budget.
    public func write(
        _ path: Path, value: Node, context: RuleContext, old: some RuleData, new: some RuleData, explains: Bool = false,
        budget: inout RuleBudget
    ) -> RuleVerdict {
        let evaluator = Evaluator(
            program, path: path, context: context, query: nil, old: old, new: new, limits: limits, steps: budget.stepsLeft)
        var decision = WriteDecision(rules: self, path: path, value: value, evaluator: evaluator, explains: explains)
        let isAllowed = decision.isAllowed()
        budget.stepsLeft = decision.evaluator.stepsLeft
        let isOverBudget = decision.evaluator.isOverBudget
        return RuleVerdict(
            isAllowed: isAllowed && !isOverBudget, isOverBudget: isOverBudget,
            trace: decision.recorder.take()?.concluded(isAllowed: isAllowed, isOverBudget: isOverBudget))
    }

    /// Whether a `.write` rule on the path is true: the part of a decision that does not need the value.
    public func grantsWrite(_ path: Path, context: RuleContext, old: some RuleData, new: some RuleData) -> Bool {
        var evaluator = Evaluator(
            program, path: path, context: context, query: nil, old: old, new: new, limits: limits, steps: limits.stepsMax)
        var recorder: TraceRecorder?
        return grants(.write, path, &evaluator, &recorder, written: nil)
    }

    /// A budget for one request.
    public func budget() -> RuleBudget { RuleBudget(steps: limits.stepsMax) }

    private func judgeRead(
        _ path: Path, _ query: Query?, _ context: RuleContext, _ data: any RuleData, _ explains: Bool
    ) -> RuleVerdict {
        var evaluator = Evaluator(
            program, path: path, context: context, query: query, old: data, new: data, limits: limits, steps: limits.stepsMax)
        var recorder = explains ? TraceRecorder(rules: self, operation: .read, path: path) : nil
        let isAllowed = grants(.read, path, &evaluator, &recorder, written: nil)
        return RuleVerdict(
            isAllowed: isAllowed, isOverBudget: evaluator.isOverBudget,
            trace: recorder?.concluded(isAllowed: isAllowed, isOverBudget: evaluator.isOverBudget))
    }

    /// Whether a rule for the operation on the path is true.
    func grants(
        _ operation: RuleTrace.Operation, _ path: Path, _ evaluator: inout Evaluator, _ recorder: inout TraceRecorder?, written: Node?
    ) -> Bool {
        var node = root
        var depth = 0
        while true {
            if let rule = operation == .read ? node.read : node.write {
                let isTrue = evaluator.holds(rule.root, depth: depth, written: depth == path.count ? written : nil)
                recorder?.record(rule, isTrue: isTrue, &evaluator)
                if isTrue { return true }
            }
            guard depth < path.count, let child = node.child(path.segments[depth]) else { return false }
            node = child
            depth += 1
        }
    }
}
