import EventLoop
import HearthBytes
import Tokens

/// What a request's token is worth (spec functions 3).
enum TokenVerdict: Sendable {
    case missing
    /// Refused, for a reason that the log may have and the client may not.
    case invalid(reason: String)
    case valid(VerifiedToken, raw: [UInt8])

    /// As the log of a call names it.
    var name: String {
        switch self {
        case .missing: "MISSING"
        case .invalid: "INVALID"
        case .valid: "VALID"
        }
    }
}

/// Says who calls: verifies ID tokens and App Check tokens, before anything of the user's runs.
///
/// What was verified before is answered at once; the rest is verified off the loop, both tokens of a request at a time.
package final class TokenGate: Sendable {
    private let idTokens: TokenVerifier
    private let appCheckTokens: TokenVerifier
    private let consumed: ConsumedTokens
    private let keyFiles: [KeySet]

    /// - Parameters:
    ///   - consumed: App Check tokens that count no more.
    ///   - keyFiles: keys that are read once at start, so that a broken file is found then.
    package init(idTokens: TokenVerifier, appCheckTokens: TokenVerifier, consumed: ConsumedTokens, keyFiles: [KeySet]) {
        self.consumed = consumed
        self.idTokens = idTokens
        self.appCheckTokens = appCheckTokens
        self.keyFiles = keyFiles
    }

    /// Reads the key files.
    ///
    /// - Throws: `KeyFetchError` for one that cannot be used.
    package func loadKeyFiles() async throws(KeyFetchError) {
        for keys in keyFiles { try await keys.load() }
    }

    /// The credentials of one request, and what is known of them so far.
    struct Credentials: Sendable {
        var idToken: Credential
        var appCheck: Credential

        /// Whether both verdicts are there.
        var areKnown: Bool { idToken.verdict != nil && appCheck.verdict != nil }
    }

    /// One token as it was sent.
    struct Credential: Sendable {
        var raw: [UInt8] = []
        var verdict: TokenVerdict?

        static let missing = Credential(verdict: .missing)
    }

    /// Reads the two headers; an absent one and an empty one are the same.
    func credentials(authorization: Span<UInt8>?, appCheck: Span<UInt8>?) -> Credentials {
        Credentials(idToken: idCredential(authorization), appCheck: appCheckCredential(appCheck))
    }

    private func idCredential(_ header: Span<UInt8>?) -> Credential {
        guard let header, header.count > 0 else { return .missing }
        // `^Bearer (.*)$`, whatever the case; everything else in this header is a failed authentication.
        guard header.count >= 7, header.extracting(0..<7).equalsIgnoringCase(lowercase: "bearer ") else {
            return Credential(verdict: .invalid(reason: "the Authorization header does not begin with \"Bearer \""))
        }
        let token = header.extracting(7..<header.count)
        return Self.known(idTokens.cached(token), token)
    }

    private func appCheckCredential(_ header: Span<UInt8>?) -> Credential {
        guard let header, header.count > 0 else { return .missing }
        return Self.known(appCheckTokens.cached(header), header)
    }

    private static func known(_ verified: VerifiedToken?, _ token: Span<UInt8>) -> Credential {
        let raw = token.array()
        return Credential(raw: raw, verdict: verified.map { .valid($0, raw: raw) })
    }

    /// Finds the verdicts that are missing and calls `completion` with them on `loop`.
    func verify(_ credentials: Credentials, on loop: EventLoop, completion: @escaping @Sendable (TokenVerdict, TokenVerdict) -> Void) {
        let idToken = credentials.idToken
        let appCheck = credentials.appCheck
        Task { [self] in
            async let first = Self.verdict(idToken, idTokens)
            async let second = Self.verdict(appCheck, appCheckTokens)
            let verdicts = await (first, second)
            loop.post { completion(verdicts.0, verdicts.1) }
        }
    }

    private static func verdict(_ credential: Credential, _ verifier: TokenVerifier) async -> TokenVerdict {
        if let verdict = credential.verdict { return verdict }
        switch await verifier.verify(credential.raw) {
        case .success(let token): return .valid(token, raw: credential.raw)
        case .failure(let refusal): return .invalid(reason: verifier.reason(for: refusal, of: credential.raw))
        }
    }

    /// An ID token that was verified before and still holds.
    func cachedIDToken(_ token: Span<UInt8>) -> VerifiedToken? { idTokens.cached(token) }

    /// Verifies an ID token that came another way than in a header of its own, and calls `completion` on `loop`.
    ///
    /// - Parameter completion: also gets the reason of a refusal, for the log.
    func verifyIDToken(
        _ token: [UInt8], on loop: EventLoop, completion: @escaping @Sendable (Result<VerifiedToken, TokenRefusal>, String?) -> Void
    ) {
        Task { [self] in
            let result = await idTokens.verify(token)
            var reason: String?
            if case .failure(let refusal) = result { reason = idTokens.reason(for: refusal, of: token) }
            loop.post { [reason] in completion(result, reason) }
        }
    }

    /// Marks an App Check token as used, and calls `completion` on `loop` when that outlives the host.
    func consume(
        _ token: VerifiedToken, raw: [UInt8], on loop: EventLoop, completion: @escaping @Sendable (ConsumedTokens.Use) -> Void
    ) {
        // As long as any verifier may still accept it.
        let forgetAt = token.expires + TokenRules.clockSkewSecondsMax
        consumed.consume(raw, forgetAt: forgetAt) { use in loop.post { completion(use) } }
    }
}
