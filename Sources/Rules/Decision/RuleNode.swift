/// A node of the rules: what is said of one place of the tree, or of all children of a place.
struct RuleNode: Sendable {
    /// An index among the rules of the set, or `none`.
    var read = RuleNode.none
    var write = RuleNode.none
    var validate = RuleNode.none
    /// Children by name, and their indices among the nodes.
    var literals: [String] = []
    var literalNodes: [Int] = []
    /// The child for every other name.
    var wildcard = RuleNode.none
    var indexes: [IndexDeclaration.Target] = []
    /// Whether any node further down has a `.validate`.
    var hasValidateBelow = false

    static let none = -1

    /// The node for the child `key`: the literal one, else the wildcard; nil without either.
    @inline(__always)
    func child(_ key: String) -> Int? {
        for index in literals.indices where RuleText.areEqual(literals[index], key) { return literalNodes[index] }
        return wildcard == RuleNode.none ? nil : wildcard
    }
}

/// A rule with its compiled expression.
struct CompiledRule: Sendable {
    var kind: RuleKind
    /// The operator that the expression begins with.
    var root: Int32
    /// The names of the node that holds it, `$name` for a wildcard.
    var pattern: [String]
    /// The expression; `true` or `false` for a value that is one.
    var text: RuleText
}
