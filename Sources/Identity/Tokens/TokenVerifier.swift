import HearthJSON
import Synchronization

/// The tokens that a host issues itself: their rules, and the keys that sign them.
public struct OwnTokens: Sendable {
    let rules: TokenRules
    let keys: KeySet

    /// Tokens with an issuer and keys of their own.
    public init(rules: TokenRules, keys: KeySet) {
        self.rules = rules
        self.keys = keys
    }
}

/// Verifies that a token is genuine and meant for this project.
///
/// Verified tokens are cached, so that repeated use of a token costs one lookup:
///
///     if let token = verifier.cached(bytes) { return token }     // on the event loop
///     let result = await verifier.verify(bytes.array())          // off it
public final class TokenVerifier: Sendable {
    /// Longer tokens are refused without parsing. Firebase's have about 1 kB.
    public static let tokenBytesMax = 16 * 1024

    let rules: TokenRules
    /// The keys of another issuer; nil if only the host's own tokens are trusted.
    let keys: KeySet?
    /// The tokens of the host itself, which count before those of `keys`.
    let own: OwnTokens?
    let clock: TokenClock
    private let cache: Mutex<TokenCache>

    /// - Parameters:
    ///   - rules: for tokens that are not the host's own.
    ///   - keys: the keys of these; nil if none is trusted.
    ///   - own: the tokens of the host itself, if it issues such tokens.
    ///   - cacheEntriesMax: the most cached tokens.
    ///   - cacheBytesMax: estimated memory of the cache.
    public init(
        rules: TokenRules, keys: KeySet?, own: OwnTokens? = nil, clock: TokenClock = .system, cacheEntriesMax: Int = 4096,
        cacheBytesMax: Int = 8 << 20
    ) {
        self.rules = rules
        self.keys = keys
        self.own = own
        self.clock = clock
        cache = Mutex(TokenCache(entriesMax: cacheEntriesMax, bytesMax: cacheBytesMax))
    }

    /// The token, if it was verified before and is still valid; nil if it has to be verified. Cheap; callable on an event loop.
    ///
    /// - Parameter now: seconds since 1970; nil for the clock's time.
    public func cached(_ token: Span<UInt8>, now: Int? = nil) -> VerifiedToken? {
        let now = now ?? clock.now()
        // Both are read, so that a refresh that is due begins.
        let isTrusted = keys?.isTrusted(now: now) ?? false
        let isOwnTrusted = own?.keys.isTrusted(now: now) ?? false
        let (generation, ownGeneration) = (keys?.generation ?? 0, own?.keys.generation ?? 0)
        return cache.withLock { cache in
            guard let entry = cache.find(token) else { return nil }
            let generation = entry.isOwn ? ownGeneration : generation
            let isTrusted = entry.isOwn ? isOwnTrusted : isTrusted
            // An unsigned token depends on no key that could be revoked.
            let isUnsigned = entry.verified.isUnsigned
            guard now < entry.verified.validUntil, isUnsigned || entry.generation == generation else {
                cache.remove(token)
                return nil
            }
            return isUnsigned || isTrusted ? entry.verified : nil
        }
    }

    /// Verifies a token. Waits for keys if there are none yet. Never runs on the caller's loop.
    @concurrent
    public func verify(_ token: [UInt8]) async -> Result<VerifiedToken, TokenRefusal> {
        do throws(TokenRefusal) {
            return .success(try await verified(token))
        } catch {
            return .failure(error)
        }
    }

    /// Verifies a token. Waits for keys if there are none yet. Never runs on the caller's loop.
    @concurrent
    public func verify(_ token: String) async -> Result<VerifiedToken, TokenRefusal> {
        await verify(Array(token.utf8))
    }

    private func verified(_ token: [UInt8]) async throws(TokenRefusal) -> VerifiedToken {
        guard token.count <= Self.tokenBytesMax else { throw .tooLong }
        let now = clock.now()
        if let known = cached(token.span, now: now) { return known }
        let parts = try CompactToken(token)
        guard !parts.hasExtensions else { throw .type }
        if parts.algorithm == "none" {
            let verified = try unsigned(token, parts, now: now)
            remember(verified, generation: 0)
            return verified
        }
        // Signed tokens must have their only valid spelling.
        guard !parts.isPadded else { throw .malformed }
        guard parts.algorithm == "RS256" else { throw .algorithm }
        try checkType(parts)
        guard let keyID = parts.keyID else { throw .keyIDMissing }
        let claims = try parts.claims()
        if let own, own.rules.isIssuer(of: claims), let verified = try await verified(token, parts, claims, keyID, own, now: now) {
            return verified
        }
        // Check claims before looking up the key: a token for another project must not trigger a fetch of keys.
        let (subject, expires) = try rules.check(claims, now: now)
        guard let keys else { throw .keyUnknown }
        let generation = keys.generation
        let key = try await keys.key(keyID).get()
        guard key.isSignature(parts.signature, of: parts.signed) else { throw .signature }
        let verified = makeVerified(token, subject, parts, expires, isUnsigned: false)
        remember(verified, generation: generation)
        return verified
    }

    /// Verifies a token with an issuer of the host's own; nil if no key of the host has signed it.
    private func verified(
        _ token: [UInt8], _ parts: CompactToken, _ claims: JSONValue, _ keyID: String, _ own: OwnTokens, now: Int
    ) async throws(TokenRefusal) -> VerifiedToken? {
        let (subject, expires) = try own.rules.check(claims, now: now)
        let generation = own.keys.generation
        guard case .success(let key) = await own.keys.key(keyID) else { return nil }
        guard key.isSignature(parts.signature, of: parts.signed) else { throw .signature }
        let verified = makeVerified(token, subject, parts, expires, isUnsigned: false)
        remember(verified, generation: generation, isOwn: true)
        return verified
    }

    private func remember(_ verified: VerifiedToken, generation: Int, isOwn: Bool = false) {
        let entry = TokenCache.Entry(verified: verified, generation: generation, isOwn: isOwn)
        cache.withLock { $0.insert(entry) }
    }

    private func unsigned(_ token: [UInt8], _ parts: CompactToken, now: Int) throws(TokenRefusal) -> VerifiedToken {
        let claims = try parts.claims()
        let rules = own.map { $0.rules.isIssuer(of: claims) ? $0.rules : self.rules } ?? self.rules
        guard rules.acceptsUnsigned else { throw .unsigned }
        guard parts.signature.isEmpty else { throw .signature }
        let (subject, expires) = try rules.checkUnsigned(claims, now: now)
        return makeVerified(token, subject, parts, expires, isUnsigned: true)
    }

    private func makeVerified(
        _ token: [UInt8], _ subject: String, _ parts: CompactToken, _ expires: Int, isUnsigned: Bool
    ) -> VerifiedToken {
        VerifiedToken(
            text: token, subject: subject, claims: parts.payload, expires: expires, validUntil: expires + rules.clockSkewSeconds,
            isUnsigned: isUnsigned)
    }

    private func checkType(_ parts: CompactToken) throws(TokenRefusal) {
        guard let type = parts.type else {
            if rules.requiresType { throw .type }
            return
        }
        guard type == "JWT" else { throw .type }
    }
}
