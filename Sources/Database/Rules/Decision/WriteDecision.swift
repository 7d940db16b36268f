import Tree

/// Decides about one written path (spec database 5.6).
struct WriteDecision: ~Copyable {
    let rules: RuleSet
    let path: Path
    let value: Node
    var evaluator: Evaluator
    var recorder: TraceRecorder?
    private var isValid = true

    init(rules: RuleSet, path: Path, value: Node, evaluator: consuming Evaluator, explains: Bool) {
        self.rules = rules
        self.path = path
        self.value = value
        self.evaluator = evaluator
        recorder = explains ? TraceRecorder(rules: rules, operation: .write, path: path) : nil
    }

    mutating func isAllowed() throws(UnreadableData) -> Bool {
        guard try rules.grants(.write, path, &evaluator, &recorder, written: value) else { return false }
        try validate()
        return isValid
    }

    /// Whether evaluation can stop: the write is denied and no explanation is requested.
    private var isDecided: Bool {
        if evaluator.isOverBudget { return true }
        guard let recorder else { return !isValid }
        return recorder.isFull && !isValid
    }

    private mutating func validate() throws(UnreadableData) {
        var node = rules.root
        for depth in 0...path.count {
            if let rule = node.validate, try isThere(depth) {
                try check(rule, depth: depth, written: depth == path.count ? value : nil)
                if isDecided { return }
            }
            guard depth < path.count else { break }
            guard let child = node.child(path.segments[depth]) else { return }
            node = child
        }
        try validate(below: node, value)
    }

    /// Whether the node `depth` levels down the path will exist: certainly if the write is below it.
    private mutating func isThere(_ depth: Int) throws(UnreadableData) -> Bool {
        if !value.isEmpty { return true }
        guard depth < path.count else { return false }
        evaluator.locate()
        let key = PathKey(bytes: Array(evaluator.base.bytes[..<evaluator.levelEnds[depth]]))
        do { return try evaluator.new.exists(at: key) } catch { throw UnreadableData(cause: error) }
    }

    private mutating func check(_ rule: CompiledRule, depth: Int, written: Node?) throws(UnreadableData) {
        let isTrue = try evaluator.holds(rule.root, depth: depth, written: written)
        try recorder?.record(rule, isTrue: isTrue, &evaluator)
        if !isTrue { isValid = false }
    }

    /// Validates the descendants of a written node. Skips children without rules.
    private mutating func validate(below node: RuleNode, _ value: Node) throws(UnreadableData) {
        guard node.hasValidateBelow, case .children(let children) = value.content else { return }
        if node.wildcard == nil {
            for index in node.literals.indices where node.literalNodes[index].validates {
                let child = value.child(node.literals[index])
                if !child.isEmpty { try validate(node.literals[index], child, node.literalNodes[index]) }
                if isDecided { return }
            }
        } else {
            for child in children {
                evaluator.stepsLeft -= 1
                if let rules = node.child(child.key), rules.validates { try validate(child.key, child.node, rules) }
                if isDecided { return }
            }
        }
    }

    private mutating func validate(_ key: String, _ value: Node, _ node: RuleNode) throws(UnreadableData) {
        evaluator.enter(key)
        defer { evaluator.leave() }
        if let rule = node.validate {
            try check(rule, depth: evaluator.names.count, written: value)
            if isDecided { return }
        }
        try validate(below: node, value)
    }
}
