/// What the rules say of a request.
public struct RuleVerdict: Sendable {
    /// Whether the request may go on.
    public var isAllowed: Bool
    /// Whether the rules were given up because they took too many steps. The request is then refused.
    public var isOverBudget: Bool
    /// Which rules were asked and what they said, where that was wanted.
    public var trace: RuleTrace?

    /// A verdict; without a trace where nobody asked for one.
    public init(isAllowed: Bool, isOverBudget: Bool = false, trace: RuleTrace? = nil) {
        self.isAllowed = isAllowed
        self.isOverBudget = isOverBudget
        self.trace = trace
    }

    /// Nothing was asked: an administrator.
    public static let allowed = RuleVerdict(isAllowed: true)
}
