/// Why an expression has no value, and at which operator. Whatever else it says, its rule is then false.
struct Fault: Error {
    enum Reason: UInt8 {
        case needsString
        case needsNumber
        /// `+` of something that is neither number nor string.
        case needsNumberOrString
        /// `<` of a string and a number.
        case needsSameType
        case needsBoolean
        /// `parent()` of the root.
        case noParent
        /// A string longer than an expression may make.
        case tooLong
        /// The request has used up its steps.
        case overBudget
    }

    var reason: Reason
    /// The operand that does not fit.
    var op: Int32
    var found: RuleValue.Kind = .null
}
