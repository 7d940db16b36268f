/// How many steps a request may still take. Handed from path to path of a write that has many.
public struct RuleBudget: Sendable {
    /// Operators evaluated, and more for what takes longer: see `RuleLimits.stepsMax`.
    public internal(set) var stepsLeft: Int

    /// The steps of one request, mostly ``RuleLimits/stepsMax``.
    public init(steps: Int) { stepsLeft = steps }

    /// What a look at the data costs.
    static let readSteps = 10
    /// How many bytes of text are gone over in a step.
    static let textBytesPerStep = 16
}
