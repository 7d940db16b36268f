import EventLoop
import HearthBytes
import Tokens

/// The result of verifying a request's token (spec functions 3).
enum TokenVerdict: Sendable {
    case missing
    /// Refused. The reason is for the log and must not be sent to the client.
    case invalid(reason: String)
    case valid(VerifiedToken)

    /// The name in log lines about a call.
    var name: String {
        switch self {
        case .missing: "MISSING"
        case .invalid: "INVALID"
        case .valid: "VALID"
        }
    }
}

/// Verifies the ID tokens and App Check tokens of requests, before any code of a function runs.
///
/// Known tokens are found in a cache. All others are verified off the loop, both tokens of a request concurrently.
package final class TokenGate: Sendable {
    private let idTokens: TokenVerifier
    private let appCheckTokens: TokenVerifier
    private let consumed: ConsumedTokens
    private let keyFiles: [KeySet]

    /// - Parameters:
    ///   - consumed: the App Check tokens that were consumed.
    ///   - keyFiles: key files, which are read once at start to find broken ones then.
    package init(idTokens: TokenVerifier, appCheckTokens: TokenVerifier, consumed: ConsumedTokens, keyFiles: [KeySet]) {
        self.consumed = consumed
        self.idTokens = idTokens
        self.appCheckTokens = appCheckTokens
        self.keyFiles = keyFiles
    }

    /// Reads the key files.
    ///
    /// - Throws: `KeyFetchError` for a file that cannot be used.
    package func loadKeyFiles() async throws(KeyFetchError) {
        for keys in keyFiles { try await keys.load() }
    }

    /// The credentials of a request, with the verdicts that are known so far.
    struct Credentials: Sendable {
        var idToken: Credential
        var appCheck: Credential

        /// Whether both verdicts are known.
        var areKnown: Bool { idToken.verdict != nil && appCheck.verdict != nil }
    }

    /// A token of a request.
    struct Credential: Sendable {
        /// The text to verify; empty if the verdict is known.
        var unverified: [UInt8] = []
        var verdict: TokenVerdict?

        static let missing = Credential(verdict: .missing)
    }

    /// Reads the two headers. An empty one counts as absent.
    func credentials(authorization: Span<UInt8>?, appCheck: Span<UInt8>?) -> Credentials {
        Credentials(idToken: idCredential(authorization), appCheck: appCheckCredential(appCheck))
    }

    private func idCredential(_ header: Span<UInt8>?) -> Credential {
        guard let header, header.count > 0 else { return .missing }
        // `^Bearer (.*)$`, ignoring case. Any other value fails the authentication, as in Firebase.
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
        guard let verified else { return Credential(unverified: token.array()) }
        return Credential(verdict: .valid(verified))
    }

    /// Verifies the tokens whose verdicts are not known, and calls `completion` on `loop` with both verdicts.
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
        switch await verifier.verify(credential.unverified) {
        case .success(let token): return .valid(token)
        case .failure(let refusal): return .invalid(reason: verifier.reason(for: refusal, of: credential.unverified))
        }
    }

    /// The verified ID token from the cache, if it is there and has not expired.
    func cachedIDToken(_ token: Span<UInt8>) -> VerifiedToken? { idTokens.cached(token) }

    /// The verified App Check token from the cache, if it is there and has not expired.
    func cachedAppCheckToken(_ token: Span<UInt8>) -> VerifiedToken? { appCheckTokens.cached(token) }

    /// Verifies an ID token from another place than the `Authorization` header, and calls `completion` on `loop`.
    ///
    /// - Parameter completion: gets the result, and for a refusal the reason, for the log.
    func verifyIDToken(
        _ token: [UInt8], on loop: EventLoop, completion: @escaping @Sendable (Result<VerifiedToken, TokenRefusal>, String?) -> Void
    ) { Self.verify(token, idTokens, on: loop, completion: completion) }

    /// Verifies an App Check token, and calls `completion` on `loop`.
    ///
    /// - Parameter completion: gets the result, and for a refusal the reason, for the log.
    func verifyAppCheckToken(
        _ token: [UInt8], on loop: EventLoop, completion: @escaping @Sendable (Result<VerifiedToken, TokenRefusal>, String?) -> Void
    ) { Self.verify(token, appCheckTokens, on: loop, completion: completion) }

    private static func verify(
        _ token: [UInt8], _ verifier: TokenVerifier, on loop: EventLoop,
        completion: @escaping @Sendable (Result<VerifiedToken, TokenRefusal>, String?) -> Void
    ) {
        Task {
            let result = await verifier.verify(token)
            var reason: String?
            if case .failure(let refusal) = result { reason = verifier.reason(for: refusal, of: token) }
            loop.post { [reason] in completion(result, reason) }
        }
    }

    /// Marks an App Check token as consumed, and calls `completion` on `loop` when the mark is durable.
    func consume(_ token: VerifiedToken, on loop: EventLoop, completion: @escaping @Sendable (ConsumedTokens.Use) -> Void) {
        // Some verifier may accept the token until then.
        let forgetAt = token.expires + TokenRules.clockSkewSecondsMax
        consumed.consume(token.text, forgetAt: forgetAt) { use in loop.post { completion(use) } }
    }

    /// Verifies an App Check token and marks it as consumed.
    ///
    /// - Returns: whether it had not been consumed before; nil if that cannot be found out.
    package func consume(_ token: [UInt8]) async -> Result<Bool?, TokenRefusal> {
        switch await appCheckTokens.verify(token) {
        case .failure(let refusal): return .failure(refusal)
        case .success(let verified):
            let use = await withCheckedContinuation { continuation in
                consumed.consume(verified.text, forgetAt: verified.expires + TokenRules.clockSkewSecondsMax) { continuation.resume(returning: $0) }
            }
            switch use {
            case .first: return .success(true)
            case .repeated: return .success(false)
            case .unknown: return .success(nil)
            }
        }
    }
}
