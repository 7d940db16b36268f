/// What a rules document and its evaluation may take.
public struct RuleLimits: Sendable {
    /// The largest document, in bytes.
    public var documentBytesMax = 1_048_576
    /// The deepest nesting of rule nodes. A path has 32 levels, so deeper nodes never match.
    public var nodeDepthMax = 64
    /// The deepest nesting of an expression. `&&` and `||` in a row count as one level.
    public var expressionDepthMax = 200
    /// The instructions that all regular expressions of a document may be compiled to.
    public var patternSizeMax = 200_000
    /// The steps of one request. An operator is one step; reading the data, and each 16 bytes of text that is read or that a method goes
    /// over, are more.
    public var stepsMax = 10_000_000
    /// The longest string that an expression may make, in bytes of UTF-8.
    public var stringBytesMax = 16_777_216

    /// The defaults.
    public init() {}
}
