import EventLoop
import RealtimeDatabase

/// A listener that gets changes only in states in which the rules allow the read.
protocol JudgedListener: AnyObject {
    /// The read whose permission counts.
    var request: ReadRequest { get }
    var loop: EventLoop { get }
    var namespace: Namespace? { get }
    var topic: ListenTopic? { get }
    var permission: ListenPermission { get set }
    /// Reports changes of the places on which the permission depends.
    var watching: Namespace.Watching? { get set }
    /// Whether a verdict is needed now: not while a read is under way, which is judged itself, and not after the end.
    var mayBeJudged: Bool { get }
    /// Sends the due data that is allowed now.
    func sendDue()
    /// Ends the listener, because the rules do not allow it or it cannot go on.
    func refuse(_ error: DatabaseError)
}

/// Checks whether a listener may continue: when the rules change, and when the data that they depend on may have changed.
extension JudgedListener {
    /// Starts to use new rules or another principal: nothing more is sent until they have allowed it.
    func rejudge() {
        permission.rulesChanged()
        if watching != nil {
            endWatch()
            permission.isAsked = false
        }
        judge()
    }

    /// Asks whether the listener may continue in the newest state, and how long.
    func judge() {
        guard let namespace, !permission.isUnconditional, !permission.isAsked, mayBeJudged else { return }
        permission.isAsked = true
        let rules = permission.rulesSeen
        namespace.permission(request, on: loop) { [self] result in
            permission.isAsked = false
            switch result {
            case .failure(let error): refuse(error)
            case .success where rules != permission.rulesSeen: judge()
            case .success(let found) where !found.isAllowed: refuse(.permissionDenied())
            case .success(let found):
                permission.grant(at: found.commit)
                switch found.duration {
                case .always: permission.holdUntilRulesChange()
                case .untilChange(let places): watch(places, since: found.commit)
                case .once: break
                }
                sendDue()
            }
        }
    }

    /// Has changes of the places reported on which the permission depends.
    private func watch(_ places: [WatchedPlace], since commit: UInt64) {
        guard let topic else { return }
        endWatch()
        let rules = permission.rulesSeen
        watching = topic.watch(places, since: commit) { [weak self] news in
            guard let self, rules == permission.rulesSeen, watching != nil else { return }
            permission.isAsked = false
            switch news {
            case .holds(let commit): permission.holdWhileWatched(upTo: commit)
            case .changed:
                permission.limitToJudgedState()
                watching = nil
                judge()
            }
            sendDue()
        }
        // The first news completes the check.
        permission.isAsked = watching != nil
    }

    func endWatch() {
        watching?.end()
        watching = nil
    }
}
