/// Decides when a pool may start another worker after crashes.
///
/// The first crash causes no delay. Each further one doubles the delay, until a worker answers a call. After `limit` crashes within
/// `windowMilliseconds` the pool gives up for ``givenUpMilliseconds``. An answer resets everything.
struct RestartPolicy {
    /// How long a pool that has given up starts no worker.
    static let givenUpMilliseconds: UInt64 = 60_000
    private static let firstWaitMilliseconds: UInt64 = 100
    private static let longestWaitMilliseconds: UInt64 = 10_000
    /// The longest back-off that calls wait for. During a longer one they are refused at once.
    private static let patienceMilliseconds: UInt64 = 2_000

    let limit: Int
    let windowMilliseconds: UInt64

    private var crashes: [UInt64] = []
    /// The earliest time for the next start of a worker.
    private(set) var notBefore: UInt64 = 0
    /// Whether the pool has given up after too many crashes.
    private(set) var hasGivenUp = false

    init(limit: Int, windowSeconds: Double) {
        self.limit = limit
        windowMilliseconds = UInt64(windowSeconds * 1000)
    }

    /// Whether a worker may start at `now`.
    mutating func mayStart(now: UInt64) -> Bool {
        guard now >= notBefore else { return false }
        if hasGivenUp {
            // After the pause, counting starts afresh.
            hasGivenUp = false
            crashes.removeAll(keepingCapacity: true)
        }
        return true
    }

    /// Whether a call with this deadline should wait for the end of the back-off.
    func isWorthWaiting(now: UInt64, deadline: UInt64) -> Bool {
        !hasGivenUp && notBefore > now && notBefore < deadline && notBefore - now <= Self.patienceMilliseconds
    }

    /// Counts a worker that crashed or could not load its plugin.
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

    /// Delays the next start after a worker could not be started for lack of descriptors, processes or memory. Not counted as a crash.
    mutating func couldNotStart(now: UInt64) { notBefore = max(notBefore, now + Self.firstWaitMilliseconds) }

    /// Resets the counts and delays, because a worker has answered.
    mutating func didAnswer() {
        guard !crashes.isEmpty else { return }
        crashes.removeAll(keepingCapacity: true)
        notBefore = 0
        hasGivenUp = false
    }
}
