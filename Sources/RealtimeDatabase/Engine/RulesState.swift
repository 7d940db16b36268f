public import Rules

/// The rules of a namespace as an administrator asks for them.
public struct RulesReport: Sendable {
    /// The document as it was uploaded, with its comments.
    public var source: [UInt8]
    /// The rules in force.
    public var rules: RuleSet
}
