/// The newest state of the tree that a stream may show.
struct StreamPermission {
    /// Whether no rules apply.
    var isUnconditional = false
    /// Whether the rules in force have allowed the read for as long as they are in force.
    var isLasting = false
    /// Whether an answer is awaited.
    var isAsked = false
    /// How often the rules have changed.
    private(set) var rulesSeen = 0
    /// The newest state in which these rules have allowed it; nil for none.
    private var commit: UInt64?

    /// Whether the permission may end although the rules stay the same.
    var mayEnd: Bool { !isUnconditional && !isLasting }

    /// Whether the changes of a commit may be shown.
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
