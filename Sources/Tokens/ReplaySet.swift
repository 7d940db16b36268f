import Crypto
import Synchronization

/// Remembers which App Check tokens were consumed, until they expire.
///
/// What is kept of a token is its SHA-256 hash. The memory is bounded: when it is full the tokens that expire soonest are
/// forgotten, since there is least left to do with them. It lives in this process and begins empty.
public final class ReplaySet: Sendable {
    private let clock: TokenClock
    private let tokens: Mutex<ConsumedTokens>

    /// - Parameter tokensMax: how many are remembered; each takes about 100 bytes.
    public init(tokensMax: Int = 100_000, clock: TokenClock = .system) {
        self.clock = clock
        tokens = Mutex(ConsumedTokens(tokensMax: tokensMax))
    }

    /// Marks a verified token as consumed, in one step, and says whether it was already. Can be called from any thread.
    ///
    /// - Parameters:
    ///   - token: the token's text.
    ///   - expires: its `exp`, in seconds since 1970.
    public func consume(_ token: [UInt8], expires: Int) -> Bool {
        let hash = SHA256.hash(data: token).withUnsafeBytes { $0.loadUnaligned(as: TokenHash.self) }
        let now = clock.now()
        // As long as any verifier may still accept it.
        let forgetAt = expires + TokenRules.clockSkewSecondsMax
        return tokens.withLock { !$0.insert(hash, expires: forgetAt, now: now) }
    }

    /// How many are remembered.
    var count: Int { tokens.withLock { $0.count } }
}

/// SHA-256 of a token.
private typealias TokenHash = SIMD4<UInt64>

/// The hashes, gathered by the minute in which they expire, so that a minute is forgotten in one step.
private struct ConsumedTokens {
    private var minutes: [Int: Set<TokenHash>] = [:]
    private(set) var count = 0
    private let tokensMax: Int
    private var sweptMinute = Int.min

    init(tokensMax: Int) { self.tokensMax = max(1, tokensMax) }

    /// False where it was there before.
    mutating func insert(_ hash: TokenHash, expires: Int, now: Int) -> Bool {
        sweep(minute: now / 60)
        // A token has one expiry, so it is in this minute or nowhere.
        guard minutes[expires / 60, default: []].insert(hash).inserted else { return false }
        count += 1
        if count > tokensMax { forgetOne() }
        return true
    }

    private mutating func sweep(minute: Int) {
        guard minute != sweptMinute else { return }
        sweptMinute = minute
        for (ending, hashes) in minutes where ending < minute {
            count -= hashes.count
            minutes[ending] = nil
        }
    }

    private mutating func forgetOne() {
        guard let soonest = minutes.keys.min() else { return }
        minutes[soonest]?.removeFirst()
        if minutes[soonest]?.isEmpty == true { minutes[soonest] = nil }
        count -= 1
    }
}
