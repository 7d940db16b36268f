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

    mutating func isAllowed() -> Bool {
        guard rules.grants(.write, path, &evaluator, &recorder, written: value) else { return false }
        validate()
        return isValid
    }

    /// Whether evaluation can stop: the write is denied and no explanation is requested.
    private var isDecided: Bool {
        if evaluator.isOverBudget { return true }
        guard let recorder else { return !isValid }
        return recorder.isFull && !isValid
    }

    private mutating func validate() {
        var node = rules.root
        for depth in 0...path.count {
            if let rule = node.validate, isThere(depth) {
                check(rule, depth: depth, written: depth == path.count ? value : nil)
                if isDecided { return }
            }
            guard depth < path.count else { break }
            guard let child = node.child(path.segments[depth]) else { return }
            node = child
        }
        validate(below: node, value)
    }

    /// Whether the node `depth` levels down the path will exist: certainly if the write is below it.
    private mutating func isThere(_ depth: Int) -> Bool {
        if !value.isEmpty { return true }
        guard depth < path.count else { return false }
        evaluator.locate()
        return evaluator.new.exists(at: PathKey(bytes: Array(evaluator.base.bytes[..<evaluator.levelEnds[depth]])))
    }

    private mutating func check(_ rule: CompiledRule, depth: Int, written: Node?) {
        let isTrue = evaluator.holds(rule.root, depth: depth, written: written)
        recorder?.record(rule, isTrue: isTrue, &evaluator)
        if !isTrue { isValid = false }
    }

    /// Validates the descendants of a written node. Skips children without rules.
    private mutating func validate(below node: RuleNode, _ value: Node) {
        guard node.hasValidateBelow, case .children(let children) = value.content else { return }
        if node.wildcard == nil {
            for index in node.literals.indices where node.literalNodes[index].validates {
                let child = value.child(node.literals[index])
                if !child.isEmpty { validate(node.literals[index], child, node.literalNodes[index]) }
                if isDecided { return }
            }
        } else {
            for child in children {
                evaluator.stepsLeft -= 1
                if let rules = node.child(child.key), rules.validates { validate(child.key, child.node, rules) }
                if isDecided { return }
            }
        }
    }

    private mutating func validate(_ key: String, _ value: Node, _ node: RuleNode) {
        evaluator.enter(key)
        defer { evaluator.leave() }
        if let rule = node.validate {
            check(rule, depth: evaluator.names.count, written: value)
            if isDecided { return }
        }
        validate(below: node, value)
    }
}

/// The decision of the rules about a request.
public struct RuleVerdict: Sendable {
    /// Whether the request is allowed.
    public var isAllowed: Bool
    /// Whether evaluation was stopped for taking too many steps. The request is then refused.
    public var isOverBudget: Bool
    /// The evaluated rules and their outcomes, if requested.
    public var trace: RuleTrace?

    /// A verdict; without a trace by default.
    public init(isAllowed: Bool, isOverBudget: Bool = false, trace: RuleTrace? = nil) {
        self.isAllowed = isAllowed
        self.isOverBudget = isOverBudget
        self.trace = trace
    }

    /// The verdict for an administrator, without evaluation.
    public static let allowed = RuleVerdict(isAllowed: true)
}
