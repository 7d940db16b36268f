import Configuration
import DequeModule
import WorkerProtocol

/// Invocations that wait for a worker, limited in number and in waiting time.
///
/// Implements controlled delay. Normally the oldest invocation goes first and may wait for the whole budget. If the queue has not been empty
/// for that long, it is congested: the newest goes first, and all may wait for a tenth of the budget only. Then overload is reported early,
/// and the invocations that are served are served quickly.
struct InvocationQueue {
    private var waiting: Deque<HostInvocation> = []
    private var forgotten = 0
    private var busySinceMilliseconds: UInt64?

    /// The number of waiting invocations.
    var count: Int { waiting.count - forgotten }

    mutating func append(_ invocation: HostInvocation, now: UInt64) {
        invocation.state = .queued
        invocation.queuedAtMilliseconds = now
        waiting.append(invocation)
        if busySinceMilliseconds == nil { busySinceMilliseconds = now }
    }

    /// Counts a waiting invocation that was cancelled.
    mutating func forgetOne() {
        forgotten += 1
        if count == 0 { reset() }
    }

    /// Removes the invocation whose turn it is.
    mutating func next(now: UInt64, _ limits: PoolLimits) -> HostInvocation? {
        // A fast path: usually the queue is empty, and every answer calls this function.
        if waiting.isEmpty { return nil }
        while let invocation = isCongested(now: now, limits) ? waiting.popLast() : waiting.popFirst() {
            guard invocation.isQueued else {
                forgotten -= 1
                continue
            }
            if waiting.isEmpty { reset() }
            return invocation
        }
        reset()
        return nil
    }

    /// Removes the invocations that have waited too long or are past their deadline. The caller fails them only when the queue may be changed
    /// again: an answer can be followed by the connection's next request, which can be another call of this pool.
    ///
    /// - Parameter blockingFunction: called for an invocation that has waited too long; returns the function that blocks all instances, if any.
    mutating func takeExpired(now: UInt64, _ limits: PoolLimits, blockingFunction: () -> String?) -> [(HostInvocation, InvocationFailure)] {
        guard count > 0 else { return [] }
        let budget = budget(now: now, limits)
        var kept: Deque<HostInvocation> = []
        var due: [(HostInvocation, InvocationFailure)] = []
        for invocation in waiting {
            guard invocation.isQueued else { continue }
            if invocation.deadlineMilliseconds <= now {
                invocation.leaveQueue()
                due.append((invocation, .deadlineExceeded(seconds: invocation.function.options.timeoutSeconds)))
            } else if now >= invocation.queuedAtMilliseconds + budget {
                invocation.leaveQueue()
                due.append((invocation, .waitedTooLong(milliseconds: now - invocation.queuedAtMilliseconds, blockedBy: blockingFunction())))
            } else {
                kept.append(invocation)
            }
        }
        waiting = kept
        forgotten = 0
        if kept.isEmpty { reset() }
        return due
    }

    /// When the oldest invocation will have waited for a tenth of the budget; `UInt64.max` if the queue is empty.
    func nextCheckMilliseconds(_ limits: PoolLimits) -> UInt64 {
        guard count > 0, let oldest = waiting.first else { return .max }
        return oldest.queuedAtMilliseconds + max(1, limits.queueWaitMilliseconds / 10)
    }

    /// Empties the queue and returns its invocations.
    mutating func removeAll() -> [HostInvocation] {
        let left = waiting.filter(\.isQueued)
        for invocation in left { invocation.leaveQueue() }
        reset()
        return Array(left)
    }

    private func isCongested(now: UInt64, _ limits: PoolLimits) -> Bool {
        busySinceMilliseconds.map { now > $0 + limits.queueWaitMilliseconds } ?? false
    }

    private func budget(now: UInt64, _ limits: PoolLimits) -> UInt64 {
        isCongested(now: now, limits) ? max(1, limits.queueWaitMilliseconds / 10) : limits.queueWaitMilliseconds
    }

    private mutating func reset() {
        waiting.removeAll(keepingCapacity: true)
        forgotten = 0
        busySinceMilliseconds = nil
    }
}
