public import Tree

/// A node of the rules: the rules for one location of the tree, or for all children of one.
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
    /// Whether a descendant has a `.validate`.
    let hasValidateBelow: Bool

    /// A node under construction.
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

    /// Whether this node or a descendant has a `.validate`.
    var validates: Bool { validate != nil || hasValidateBelow }

    /// The rules for the child `key`: the literal node, otherwise the wildcard; nil without either.
    @inline(__always)
    func child(_ key: String) -> RuleNode? {
        for index in literals.indices where TextOrder.equal(literals[index], key) { return literalNodes[index] }
        return wildcard
    }
}

/// A rule with its compiled expression.
final class CompiledRule: Sendable {
    let kind: RuleKind
    /// The root operator of the expression.
    let root: Int32
    /// The names on the path to its node, `$name` for a wildcard.
    let pattern: [String]
    /// The text of the expression; `true` or `false` for a Boolean literal.
    let text: RuleText
    /// The reasons for which its value may change for the same request.
    let dependence: RuleDependence

    init(kind: RuleKind, root: Int32, pattern: [String], text: RuleText, dependence: RuleDependence = []) {
        self.kind = kind
        self.root = root
        self.pattern = pattern
        self.text = text
        self.dependence = dependence
    }
}

/// The reasons for which the value of a rule may change for the same request.
public struct RuleDependence: OptionSet, Sendable {
    public let rawValue: UInt8

    /// The tree.
    public static let data = RuleDependence(rawValue: 1)
    /// The time.
    public static let time = RuleDependence(rawValue: 2)

    public init(rawValue: UInt8) { self.rawValue = rawValue }
}

/// An `.indexOn` of the rules.
public struct IndexDeclaration: Sendable, Hashable {
    /// The sort criterion of an index.
    public enum Target: Sendable, Hashable {
        /// The children's own values.
        case value
        /// The values at a path below the children.
        case child(Path)
    }

    /// The names on the path to the node whose children are indexed. A name that begins with `$` stands for every key without rules of its
    /// own beside it.
    public var pattern: [String]
    /// The sort criterion of the children.
    public var target: Target

    /// An index at a location in the rules, for comparison with those of a document.
    public init(pattern: [String], target: Target) {
        self.pattern = pattern
        self.target = target
    }
}
