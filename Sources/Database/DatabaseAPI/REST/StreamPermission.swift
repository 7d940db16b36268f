/// The newest state of the tree that a stream may show.
struct StreamPermission {
    /// Whether no rules apply.
    var isUnconditional = false
    /// Whether the permission lasts as long as the rules in force.
    var isLasting = false
    /// Whether a check is under way.
    var isAsked = false
    /// The number of rule changes.
    private(set) var rulesSeen = 0
    /// The newest state in which the present rules have allowed the read; nil for none.
    private var commit: UInt64?

    /// Whether the permission may end without a change of the rules.
    var mayEnd: Bool { !isUnconditional && !isLasting }

    /// Whether the changes of a commit may be sent.
    func allows(_ commit: UInt64) -> Bool {
        if isUnconditional { return true }
        guard let allowed = self.commit else { return false }
        return isLasting || commit <= allowed
    }

    mutating func wasGranted(at commit: UInt64) { self.commit = max(self.commit ?? 0, commit) }

    mutating func rulesChanged() {
        rulesSeen += 1
        isLasting = false
        commit = nil
    }
}
