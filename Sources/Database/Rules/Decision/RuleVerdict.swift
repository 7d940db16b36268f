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
