public import Tree

/// A node of the rules: what is said of one place of the tree, or of all children of a place.
final class RuleNode: Sendable {
    let read: CompiledRule?
    let write: CompiledRule?
    let validate: CompiledRule?
    /// Children by name.
    let literals: [String]
    let literalNodes: [RuleNode]
    /// The child for every other name.
    let wildcard: RuleNode?
    let indexes: [IndexDeclaration.Target]
    /// Whether there is a `.validate` further down.
    let hasValidateBelow: Bool

    /// A node while its members are being read.
    struct Draft {
        var read: CompiledRule?
        var write: CompiledRule?
        var validate: CompiledRule?
        var literals: [String] = []
        var literalNodes: [RuleNode] = []
        var wildcard: RuleNode?
        var indexes: [IndexDeclaration.Target] = []
    }

    init(_ draft: Draft) {
        read = draft.read
        write = draft.write
        validate = draft.validate
        literals = draft.literals
        literalNodes = draft.literalNodes
        wildcard = draft.wildcard
        indexes = draft.indexes
        hasValidateBelow = draft.literalNodes.contains(where: \.validates) || draft.wildcard?.validates ?? false
    }

    /// Whether there is a `.validate` here or further down.
    var validates: Bool { validate != nil || hasValidateBelow }

    /// The node for the child `key`: the literal one, else the wildcard; nil without either.
    @inline(__always)
    func child(_ key: String) -> RuleNode? {
        for index in literals.indices where TextOrder.equal(literals[index], key) { return literalNodes[index] }
        return wildcard
    }
}

/// A rule with its compiled expression.
final class CompiledRule: Sendable {
    let kind: RuleKind
    /// The operator that the expression begins with.
    let root: Int32
    /// The names of the node that holds it, `$name` for a wildcard.
    let pattern: [String]
    /// The expression; `true` or `false` for a value that is one.
    let text: RuleText
    /// Whether its value may change although the request stays the same: it looks at data or at the time.
    let dependsOnState: Bool

    init(kind: RuleKind, root: Int32, pattern: [String], text: RuleText, dependsOnState: Bool = false) {
        self.kind = kind
        self.root = root
        self.pattern = pattern
        self.text = text
        self.dependsOnState = dependsOnState
    }
}

/// An `.indexOn` of the rules.
public struct IndexDeclaration: Sendable, Hashable {
    /// What children are sorted by.
    public enum Target: Sendable, Hashable {
        /// Their own values.
        case value
        /// What is at a path below each of them.
        case child(Path)
    }

    /// The names that lead to the node whose children are indexed. One that begins with `$` stands for every key that has no
    /// rules of its own beside it.
    public var pattern: [String]
    /// What the children of that node are sorted by.
    public var target: Target

    /// An index at a place of the rules, for comparing with those of a document.
    public init(pattern: [String], target: Target) {
        self.pattern = pattern
        self.target = target
    }
}
