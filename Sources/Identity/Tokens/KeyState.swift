/// The keys of a ``KeySet``, their age, and the next action. Pure: no clock, no lock.
struct KeyState {
    /// The next step of a lookup.
    enum Step {
        case found(VerificationKey)
        /// Usable, but a refresh is due.
        case foundAgeing(VerificationKey)
        /// Fetch, wait for the answer, and look again.
        case refresh
        case unknown
        case unavailable
    }

    private enum Age { case none, fresh, ageing, expired }

    var refresh: Task<Void, Never>?

    private(set) var keys: [String: VerificationKey] = [:]
    /// Changes when a key is removed or replaced: tokens verified before have to be verified again.
    private(set) var generation = 0
    /// When the next refresh is due, also after a failure. Never while there are no keys: then lookups fetch them.
    private(set) var refreshAt = Int.max
    /// Until when tokens verified with these keys are trusted without another check.
    private(set) var trustedUntil = Int.min
    /// The error of the last refresh; nil after a success.
    private(set) var failure: KeyFetchError?

    private var fetchedAt = Int.max
    private var ageingAt = Int.min
    private var expiresAt = Int.min
    private var failedAt: Int?
    private var unknownAskedAt: Int?

    /// The step for a token with the key id `id`.
    ///
    /// - Parameter mayRefresh: false for the second look, after waiting.
    mutating func step(for id: String, now: Int, times: KeyTimes, mayRefresh: Bool) -> Step {
        let age = age(now, times)
        let mayAsk = mayRefresh && (refresh != nil || mayRetry(now, times))
        switch (age, keys[id]) {
        case (.none, _): return mayAsk ? .refresh : .unavailable
        case (.fresh, let key?): return .found(key)
        case (.ageing, let key?): return mayAsk && refresh == nil ? .foundAgeing(key) : .found(key)
        case (.expired, let key?):
            guard mayAsk else { return .found(key) }
            // Only the first lookup waits: after a failed refresh, retries run while the old keys are in use.
            if failedAt == nil { return .refresh }
            return refresh == nil ? .foundAgeing(key) : .found(key)
        case (_, nil):
            guard mayAsk else { return .unknown }
            if refresh != nil { return .refresh }
            guard isPast(unknownAskedAt, times.unknownKeyInterval, now) else { return .unknown }
            unknownAskedAt = now
            return .refresh
        }
    }

    /// Whether a refresh is due and none is under way.
    func isDue(_ now: Int, _ times: KeyTimes) -> Bool {
        refresh == nil && !keys.isEmpty && age(now, times) != .fresh && mayRetry(now, times)
    }

    mutating func accept(_ document: KeyDocument, lifetime: Int, now: Int) {
        let isKept = keys.allSatisfy { id, key in document.keys[id]?.fingerprint == key.fingerprint }
        if !isKept { generation += 1 }
        keys = document.keys
        fetchedAt = now
        expiresAt = now + lifetime
        ageingAt = expiresAt - lifetime / 10
        refreshAt = ageingAt
        trustedUntil = expiresAt
        failedAt = nil
        failure = nil
    }

    mutating func fail(_ error: KeyFetchError, now: Int, times: KeyTimes) {
        failedAt = now
        failure = error
        guard !keys.isEmpty else { return }
        refreshAt = now + times.retryInterval
        trustedUntil = max(trustedUntil, min(refreshAt, expiresAt + times.staleMax))
    }

    private func age(_ now: Int, _ times: KeyTimes) -> Age {
        if keys.isEmpty { return .none }
        // If the clock was set back, the age is unknown.
        if now < fetchedAt { return .expired }
        if now < ageingAt { return .fresh }
        if now < expiresAt { return .ageing }
        return now - expiresAt < times.staleMax ? .expired : .none
    }

    private func mayRetry(_ now: Int, _ times: KeyTimes) -> Bool { isPast(failedAt, times.retryInterval, now) }

    private func isPast(_ time: Int?, _ interval: Int, _ now: Int) -> Bool {
        guard let time else { return true }
        return now < time || now - time >= interval
    }
}
