import DequeModule
import EventLoop
import Store
import Tree

/// The transactions of live clients on one node, when they get in each other's way.
///
/// A transaction is a write with the hash of its node. Of those that begin with the same value, one succeeds. The clients of the others get the new
/// value and try again, at most 25 times, so most of a hundred clients would fail. A client whose transaction has failed several times gets the turn:
/// until it has tried again, the transactions of others on the node wait.
struct Contest {
    /// The failures of each client since its last success, with the time of the last one.
    var conflicts: [ObjectIdentifier: (count: Int, time: UInt64)] = [:]
    /// The client whose turn it is.
    var holder: ObjectIdentifier?
    /// The end of the turn, in the loop's milliseconds.
    var until: UInt64 = 0
    /// The failures of the holder during its turn: other writes have changed the node, or it does not use the new value.
    var failures = 0
    /// The time of the last conflict.
    var lastConflict: UInt64 = 0
    /// The transactions that wait.
    var waiting = Deque<(deadline: UInt64, perform: () -> Void)>()

    /// The failures after which a client gets a turn.
    static let conflictsMax = 3
    /// The failures that end a turn.
    static let failuresMax = 4
    /// The time that a client has for its turn. Enough for a mobile client, and short enough for others if it is gone.
    static let turnMilliseconds: UInt64 = 500
    /// The time after which a node or a client without conflicts is forgotten.
    static let restMilliseconds: UInt64 = 5_000
    /// The longest time that a transaction waits for the turns of others.
    static let patienceMilliseconds: UInt64 = 2_000
    /// The failures that a client needs for another turn, after one that it has not used.
    static let unusedPenalty = 30
    /// The most transactions that wait for one node. Others are performed at once.
    static let waitingMax = 4096
    /// The most nodes of a namespace with turns. The transactions on others have none.
    static let nodesMax = 1024
}

extension NamespaceWriter {
    /// Calls `perform` when no other client has the turn at the node.
    func enterContest(_ request: WriteRequest, perform: @escaping () -> Void) {
        guard !contests.isEmpty, let contender = request.contender else { return perform() }
        let key = request.operation.path.key
        guard let contest = contests[key], let holder = contest.holder, holder != contender, contest.waiting.count < Contest.waitingMax else {
            return perform()
        }
        contests[key]?.waiting.append((loop.nowMilliseconds + Contest.patienceMilliseconds, perform))
    }

    /// Notes the outcome of a transaction.
    func didContend(_ request: WriteRequest, _ outcome: WriteOutcome) {
        guard let contender = request.contender, request.ifMatch != nil else { return }
        let key = request.operation.path.key
        guard case .conflict = outcome else {
            contests[key]?.conflicts[contender] = nil
            if contests[key]?.holder == contender { endTurn(key) }
            return
        }
        guard var contest = contests[key] ?? (contests.count < Contest.nodesMax ? Contest() : nil) else { return }
        contest.lastConflict = loop.nowMilliseconds
        let count = (contest.conflicts[contender]?.count ?? 0) + 1
        contest.conflicts[contender] = (count, contest.lastConflict)
        if contest.holder == contender {
            contest.failures += 1
        } else if contest.holder == nil, count >= Contest.conflictsMax {
            contest.holder = contender
            contest.failures = 0
            contest.until = contest.lastConflict + Contest.turnMilliseconds
        }
        contests[key] = contest
        if contest.failures >= Contest.failuresMax { endUnusedTurn(key) }
        if contests.count == 1 { contestTimer.start(afterMilliseconds: 100, repeatMilliseconds: 100) }
    }

    /// Ends the turn of a client. The transactions that wait are performed until one of them gets the turn.
    private func endTurn(_ key: PathKey) {
        contests[key]?.failures = 0
        contests[key]?.holder = nil
        // Performed later, because the write that has ended the turn is still being performed.
        loop.post { [writer = LoopBound(self, loop: loop)] in writer.value.performWaiting(key) }
    }

    private func endUnusedTurn(_ key: PathKey) {
        guard let holder = contests[key]?.holder else { return }
        contests[key]?.conflicts[holder] = (Contest.conflictsMax - Contest.unusedPenalty, loop.nowMilliseconds)
        endTurn(key)
    }

    private func performWaiting(_ key: PathKey) {
        while let contest = contests[key], contest.holder == nil, let next = contests[key]?.waiting.popFirst() { next.perform() }
    }

    /// Performs the transactions that have waited too long, although others have the turn.
    private func performOverdue(_ key: PathKey, _ now: UInt64) {
        while let first = contests[key]?.waiting.first, now >= first.deadline {
            _ = contests[key]?.waiting.popFirst()
            first.perform()
        }
    }

    /// Ends overdue turns, and forgets nodes at rest.
    func checkContests() {
        let now = loop.nowMilliseconds
        for key in Array(contests.keys) {
            if let contest = contests[key], contest.holder != nil, now >= contest.until { endUnusedTurn(key) }
            performOverdue(key, now)
            guard let contest = contests[key] else { continue }
            contests[key]?.conflicts = contest.conflicts.filter { now < $0.value.time + Contest.restMilliseconds }
            if contest.holder == nil, contest.waiting.isEmpty, now >= contest.lastConflict + Contest.restMilliseconds { contests[key] = nil }
        }
        if contests.isEmpty { contestTimer.stop() }
    }

    /// Performs all transactions that wait.
    func endContests() {
        let waiting = contests.values.flatMap(\.waiting)
        contests = [:]
        contestTimer.stop()
        for next in waiting { next.perform() }
    }
}
