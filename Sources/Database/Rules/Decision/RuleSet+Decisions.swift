public import Tree

extension RuleSet {
    /// Whether `path` may be read: some `.read` on the way to it is true.
    ///
    /// - Parameters:
    ///   - query: what is asked for, when it is not the whole node.
    ///   - data: the tree as it is.
    ///   - explains: whether the verdict says which rules were asked.
    public func read(
        _ path: Path, query: Query?, context: RuleContext, data: some RuleData, explains: Bool = false
    ) -> RuleVerdict {
        judgeRead(path, query, context, data, explains)
    }

    /// Whether the answer of ``read(_:query:context:data:explains:)`` for `path` may change with data and time; where it may not, it holds for
    /// as long as these rules and the token do.
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

    /// Whether `value` may be written at `path`: some `.write` on the way to it is true, and so is every `.validate` on the way and
    /// in the value, each where there will be something.
    ///
    /// - Parameters:
    ///   - value: what will be at `path`, server values resolved; empty to delete.
    ///   - old: the tree as it is.
    ///   - new: the tree as it will be after the whole request.
    ///   - explains: whether the verdict says which rules were asked.
    public func write(
        _ path: Path, value: Node, context: RuleContext, old: some RuleData, new: some RuleData, explains: Bool = false
    ) -> RuleVerdict {
        var budget = RuleBudget(steps: limits.stepsMax)
        return write(path, value: value, context: context, old: old, new: new, explains: explains, budget: &budget)
    }

    /// The same for one path of a request that writes several, which share a budget.
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

    /// Whether some `.write` on the way to `path` is true: the part of a decision that needs no value at hand.
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

    /// Whether some rule for that operation on the way to `path` is true.
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
