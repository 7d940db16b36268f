public import Tree

extension RuleSet {
    /// Decides whether `path` may be read: a `.read` rule on the path is true.
    ///
    /// - Parameters:
    ///   - query: the query, unless the whole node is read.
    ///   - data: the current tree.
    ///   - explains: whether to record the evaluated rules in the verdict.
    /// - Throws: the failure of `data` where a rule needs what cannot be read.
    public func read<Failure: Error>(
        _ path: Path, query: Query?, context: RuleContext, data: some RuleData<Failure>, explains: Bool = false
    ) throws(Failure) -> RuleVerdict {
        do throws(UnreadableData) { return try judgeRead(path, query, context, data, explains) } catch { throw error.failure() }
    }

    /// The reasons for which the result of ``read(_:query:context:data:explains:)`` for `path` may change. Without any, it holds as long as these
    /// rules and the token.
    public func readDependence(_ path: Path) -> RuleDependence {
        var dependence: RuleDependence = []
        var node = root
        var depth = 0
        while true {
            if let rule = node.read { dependence.formUnion(rule.dependence) }
            guard depth < path.count, let child = node.child(path.segments[depth]) else { return dependence }
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
    /// - Throws: the failure of `old` or `new` where a rule needs what cannot be read.
    public func write<Failure: Error>(
        _ path: Path, value: Node, context: RuleContext, old: some RuleData<Failure>, new: some RuleData<Failure>, explains: Bool = false
    ) throws(Failure) -> RuleVerdict {
        var budget = RuleBudget(steps: limits.stepsMax)
        return try write(path, value: value, context: context, old: old, new: new, explains: explains, budget: &budget)
    }

    /// Decides about one path of a multi-path write. The paths share a budget.
    public func write<Failure: Error>(
        _ path: Path, value: Node, context: RuleContext, old: some RuleData<Failure>, new: some RuleData<Failure>, explains: Bool = false,
        budget: inout RuleBudget
    ) throws(Failure) -> RuleVerdict {
        let evaluator = Evaluator(
            program, path: path, context: context, query: nil, old: old, new: new, limits: limits, steps: budget.stepsLeft)
        var decision = WriteDecision(rules: self, path: path, value: value, evaluator: evaluator, explains: explains)
        let isAllowed: Bool
        do throws(UnreadableData) { isAllowed = try decision.isAllowed() } catch { throw error.failure() }
        budget.stepsLeft = decision.evaluator.stepsLeft
        let isOverBudget = decision.evaluator.isOverBudget
        return RuleVerdict(
            isAllowed: isAllowed && !isOverBudget, isOverBudget: isOverBudget,
            trace: decision.recorder.take()?.concluded(isAllowed: isAllowed, isOverBudget: isOverBudget))
    }

    /// Whether a `.write` rule on the path is true: the part of a decision that does not need the value.
    public func grantsWrite<Failure: Error>(
        _ path: Path, context: RuleContext, old: some RuleData<Failure>, new: some RuleData<Failure>
    ) throws(Failure) -> Bool {
        var evaluator = Evaluator(
            program, path: path, context: context, query: nil, old: old, new: new, limits: limits, steps: limits.stepsMax)
        var recorder: TraceRecorder?
        do throws(UnreadableData) {
            return try grants(.write, path, &evaluator, &recorder, written: nil)
        } catch {
            throw error.failure()
        }
    }

    /// A budget for one request.
    public func budget() -> RuleBudget { RuleBudget(steps: limits.stepsMax) }

    private func judgeRead(
        _ path: Path, _ query: Query?, _ context: RuleContext, _ data: any RuleData, _ explains: Bool
    ) throws(UnreadableData) -> RuleVerdict {
        var evaluator = Evaluator(
            program, path: path, context: context, query: query, old: data, new: data, limits: limits, steps: limits.stepsMax)
        var recorder = explains ? TraceRecorder(rules: self, operation: .read, path: path) : nil
        let isAllowed = try grants(.read, path, &evaluator, &recorder, written: nil)
        return RuleVerdict(
            isAllowed: isAllowed, isOverBudget: evaluator.isOverBudget,
            trace: recorder?.concluded(isAllowed: isAllowed, isOverBudget: evaluator.isOverBudget))
    }

    /// Whether a rule for the operation on the path is true.
    func grants(
        _ operation: RuleTrace.Operation, _ path: Path, _ evaluator: inout Evaluator, _ recorder: inout TraceRecorder?, written: Node?
    ) throws(UnreadableData) -> Bool {
        var node = root
        var depth = 0
        while true {
            if let rule = operation == .read ? node.read : node.write {
                let isTrue = try evaluator.holds(rule.root, depth: depth, written: depth == path.count ? written : nil)
                try recorder?.record(rule, isTrue: isTrue, &evaluator)
                if isTrue { return true }
            }
            guard depth < path.count, let child = node.child(path.segments[depth]) else { return false }
            node = child
            depth += 1
        }
    }
}
