import Files
import Synchronization

/// The public keys of one issuer, kept current.
///
/// Keys are fetched on first use, used for the `max-age` of their answer, and fetched again a little before its end. While no newer keys
/// can be fetched, the old ones stay in use for ``KeyTimes/staleMax``. An unknown key id triggers a fetch, but rarely, so that invented ids
/// cost the issuer nothing. At most one request is under way.
public final class KeySet: Sendable {
    /// The result of a refresh, for the log.
    public enum Report: Sendable, Equatable {
        /// `keyCount` keys are in use now; `problems` describes the unusable ones of the document.
        case refreshed(keyCount: Int, problems: [String])
        /// No newer keys; `keyCount` old ones stay in use.
        case failed(KeyFetchError, keyCount: Int)
    }

    /// A larger file is refused.
    private static let fileBytesMax = 1 << 20

    private let source: KeySource
    private let algorithms: Set<String>
    private let fetcher: (any KeyFetching)?
    private let times: KeyTimes
    private let clock: TokenClock
    private let report: @Sendable (Report) -> Void
    private let state = Mutex(KeyState())

    // Copies of the state, so that readers on an event loop need no lock.
    private let generationNow = Atomic(0)
    private let refreshAt = Atomic(Int.max)
    private let trustedUntil = Atomic(Int.min)

    /// - Parameters:
    ///   - algorithms: those of the keys to use: `RS256`, `ES256`.
    ///   - fetcher: needed for ``KeySource/url(_:)`` only.
    ///   - report: called after each refresh, from any thread.
    public init(
        source: KeySource, algorithms: Set<String> = ["RS256"], fetcher: (any KeyFetching)? = nil, times: KeyTimes = KeyTimes(),
        clock: TokenClock = .system, report: @escaping @Sendable (Report) -> Void = { _ in }
    ) {
        self.source = source
        self.algorithms = algorithms
        self.fetcher = fetcher
        self.times = times
        self.clock = clock
        self.report = report
    }

    /// Fetches the keys now, whatever their age: at the start of a host, to report an invalid file at once.
    ///
    /// - Throws: ``KeyFetchError`` if there are no keys afterwards; old keys that stay in use are no error.
    public func load() async throws(KeyFetchError) {
        await startRefresh().value
        let failure = state.withLock { $0.keys.isEmpty ? $0.failure : nil }
        if let failure { throw failure }
    }

    /// Changes when a key is no longer trusted.
    var generation: Int { generationNow.load(ordering: .acquiring) }

    /// Whether tokens verified with these keys are still trusted. Starts a refresh in the background when it is due.
    func isTrusted(now: Int) -> Bool {
        // A key of the host itself is removed only when all its tokens have expired.
        if case .ring = source { return true }
        // Read first: a refresh that ends at once must not change the answer.
        let isTrusted = now < trustedUntil.load(ordering: .acquiring)
        if now >= refreshAt.load(ordering: .acquiring) { refreshInBackground(now: now) }
        return isTrusted
    }

    /// The key with that id.
    func key(_ id: String) async -> Result<VerificationKey, TokenRefusal> {
        if case .ring(let ring) = source { return ring.verificationKey(id) }
        let now = clock.now()
        switch state.withLock({ $0.step(for: id, now: now, times: times, mayRefresh: true) }) {
        case .found(let key): return .success(key)
        case .foundAgeing(let key):
            refreshInBackground(now: now)
            return .success(key)
        case .unknown: return .failure(.keyUnknown)
        case .unavailable: return .failure(.keysUnavailable)
        case .refresh: break
        }
        await startRefresh().value
        switch state.withLock({ $0.step(for: id, now: clock.now(), times: times, mayRefresh: false) }) {
        case .found(let key), .foundAgeing(let key): return .success(key)
        case .unavailable: return .failure(.keysUnavailable)
        case .unknown, .refresh: return .failure(.keyUnknown)
        }
    }

    private func refreshInBackground(now: Int) {
        if state.withLock({ $0.isDue(now, times) }) { startRefresh() }
    }

    /// The refresh that is under way, or a new one.
    @discardableResult
    private func startRefresh() -> Task<Void, Never> {
        state.withLock { state in
            if let refresh = state.refresh { return refresh }
            let task = Task { await refresh() }
            state.refresh = task
            return task
        }
    }

    private func refresh() async {
        do throws(KeyFetchError) {
            let fetched = try await fetch()
            let document = try KeyDocument(parsing: fetched.bytes, algorithms: algorithms)
            end { $0.accept(document, lifetime: lifetime(fetched), now: clock.now()) }
            report(.refreshed(keyCount: document.keys.count, problems: document.problems))
        } catch {
            let error = KeyFetchError("Keys from \(source): \(error)")
            let keyCount = end { state in
                state.fail(error, now: clock.now(), times: times)
                return state.keys.count
            }
            report(.failed(error, keyCount: keyCount))
        }
    }

    private func end<R>(_ change: (inout KeyState) -> R) -> R {
        state.withLock { state in
            let result = change(&state)
            state.refresh = nil
            generationNow.store(state.generation, ordering: .releasing)
            refreshAt.store(state.refreshAt, ordering: .releasing)
            trustedUntil.store(state.trustedUntil, ordering: .releasing)
            return result
        }
    }

    private func fetch() async throws(KeyFetchError) -> FetchedKeys {
        switch source {
        case .ring(let ring):
            do throws(KeyRingError) {
                return FetchedKeys(bytes: try ring.keySet(), maxAgeSeconds: nil)
            } catch {
                throw KeyFetchError(error.description)
            }
        case .text(let text): return FetchedKeys(bytes: Array(text.utf8), maxAgeSeconds: nil)
        case .file(let path): return FetchedKeys(bytes: try Self.contents(of: path), maxAgeSeconds: nil)
        case .url(let url):
            guard let fetcher else { throw KeyFetchError("Nothing can fetch keys from an address here.") }
            return try await fetcher.fetch(url)
        }
    }

    private static func contents(of file: String) throws(KeyFetchError) -> [UInt8] {
        do throws(FileFailure) {
            return try WholeFile.read(file, sizeBytesMax: Self.fileBytesMax)
        } catch {
            throw KeyFetchError("The file \(error).")
        }
    }

    private func lifetime(_ fetched: FetchedKeys) -> Int {
        switch source {
        case .url: times.lifetime(fetched.maxAgeSeconds)
        case .file: times.fileMaxAge
        case .text, .ring: 1 << 40
        }
    }
}
