/// The newest state of the tree that a listener may show.
struct ListenPermission {
    /// Whether no rules apply.
    var isUnconditional = false
    /// How long the last verdict holds.
    private var hold = Hold.state
    /// Whether a check is under way.
    var isAsked = false
    /// The number of rule changes.
    private(set) var rulesSeen = 0
    /// The newest state in which the present rules have allowed the read; nil for none.
    private var commit: UInt64?

    private enum Hold {
        /// For the states up to that in which it was judged.
        case state
        /// For all states until a watch reports a change.
        case watched
        /// As long as the rules in force.
        case rules
    }

    /// Whether the verdict covers one state only, so that nothing reports its end.
    var mayEnd: Bool { !isUnconditional && hold == .state }

    /// Whether the changes of a commit may be sent.
    func allows(_ commit: UInt64) -> Bool {
        if isUnconditional { return true }
        guard let allowed = self.commit else { return false }
        return hold != .state || commit <= allowed
    }

    /// The rules have allowed the read in the state of `commit`.
    mutating func grant(at commit: UInt64) { self.commit = max(self.commit ?? 0, commit) }

    /// The last verdict holds as long as the rules.
    mutating func holdUntilRulesChange() { hold = .rules }

    /// The last verdict holds up to the state of `commit`, and until ``limitToJudgedState()``.
    mutating func holdWhileWatched(upTo commit: UInt64) {
        grant(at: commit)
        hold = .watched
    }

    /// The places that the rules look at have changed.
    mutating func limitToJudgedState() { hold = .state }

    mutating func rulesChanged() {
        rulesSeen += 1
        hold = .state
        commit = nil
    }
}
