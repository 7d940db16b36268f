/// The keys of a ``KeySet``, their age, and what is to be done about it. No clock and no lock in here.
struct KeyState {
    /// What a lookup does next.
    enum Step {
        case found(VerificationKey)
        /// Good for now, and it is time to ask for newer ones.
        case foundAgeing(VerificationKey)
        /// Ask, wait for the answer, and look again.
        case refresh
        case unknown
        case unavailable
    }

    private enum Age { case none, fresh, ageing, expired }

    var refresh: Task<Void, Never>?

    private(set) var keys: [String: VerificationKey] = [:]
    /// Changes whenever a key is taken away or replaced: what was verified before has to be verified again.
    private(set) var generation = 0
    /// When it is time to ask for newer keys, again where that has failed. Never while there are none: then it is those who need one that ask.
    private(set) var refreshAt = Int.max
    /// Until when what was verified with these keys holds without another look at them.
    private(set) var trustedUntil = Int.min
    /// Why the last refresh brought nothing; nil once one did.
    private(set) var failure: KeyFetchError?

    private var fetchedAt = Int.max
    private var ageingAt = Int.min
    private var expiresAt = Int.min
    private var failedAt: Int?
    private var unknownAskedAt: Int?

    /// What to do about a token whose key has the id `id`.
    ///
    /// - Parameter mayRefresh: false for the second look, after having waited.
    mutating func step(for id: String, now: Int, times: KeyTimes, mayRefresh: Bool) -> Step {
        let age = age(now, times)
        let mayAsk = mayRefresh && (refresh != nil || mayRetry(now, times))
        switch (age, keys[id]) {
        case (.none, _): return mayAsk ? .refresh : .unavailable
        case (.fresh, let key?): return .found(key)
        case (.ageing, let key?): return mayAsk && refresh == nil ? .foundAgeing(key) : .found(key)
        case (.expired, let key?):
            guard mayAsk else { return .found(key) }
            // Only the first one waits: where newer keys could not be had, the next try is made beside the old ones' use.
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

    /// Whether it is time to ask for newer keys, and nobody does yet.
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
        // A clock that was set back says nothing about how old they are.
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
