/// Says when a pool may start another worker after some have crashed.
///
/// The first crash costs nothing. Each further one without an answer in between doubles the wait, and `limit` crashes
/// within `windowMilliseconds` give the pool up for ``givenUpMilliseconds``; an answer forgives everything.
struct RestartPolicy {
    /// How long a pool that was given up is left alone.
    static let givenUpMilliseconds: UInt64 = 60_000
    private static let firstWaitMilliseconds: UInt64 = 100
    private static let longestWaitMilliseconds: UInt64 = 10_000
    /// The longest back-off that calls wait for; during a longer one they are refused at once.
    private static let patienceMilliseconds: UInt64 = 2_000

    let limit: Int
    let windowMilliseconds: UInt64

    private var crashes: [UInt64] = []
    /// No worker is started before this time.
    private(set) var notBefore: UInt64 = 0
    /// Whether too many crashes have come too fast.
    private(set) var hasGivenUp = false

    init(limit: Int, windowSeconds: Double) {
        self.limit = limit
        windowMilliseconds = UInt64(windowSeconds * 1000)
    }

    /// Whether a worker may start at `now`.
    mutating func mayStart(now: UInt64) -> Bool {
        guard now >= notBefore else { return false }
        if hasGivenUp {
            // One try: another crash gives up again.
            hasGivenUp = false
            crashes.removeAll(keepingCapacity: true)
        }
        return true
    }

    /// Whether a call that must be answered at `deadline` can wait for the end of the back-off.
    func isWorthWaiting(now: UInt64, deadline: UInt64) -> Bool {
        !hasGivenUp && notBefore > now && notBefore < deadline && notBefore - now <= Self.patienceMilliseconds
    }

    /// Counts a worker that ended by itself or could not load.
    mutating func didCrash(now: UInt64) {
        crashes.removeAll { now - $0 > windowMilliseconds }
        crashes.append(now)
        if crashes.count >= limit {
            hasGivenUp = true
            notBefore = now + Self.givenUpMilliseconds
        } else if crashes.count > 1 {
            let shift = UInt64(min(crashes.count - 2, 10))
            notBefore = now + min(Self.firstWaitMilliseconds << shift, Self.longestWaitMilliseconds)
        }
    }

    /// A worker could not be started for want of descriptors, processes or memory, which is not its plugin's fault.
    mutating func couldNotStart(now: UInt64) { notBefore = max(notBefore, now + Self.firstWaitMilliseconds) }

    /// A worker has answered: what crashed before is forgiven.
    mutating func didAnswer() {
        guard !crashes.isEmpty else { return }
        crashes.removeAll(keepingCapacity: true)
        notBefore = 0
        hasGivenUp = false
    }
}
