import DatabaseAPI
import EventLoop
import HearthBytes
import HearthJSON
import Logging
import Logs
import Messaging
import RealtimeDatabase
import Tokens

/// Verifies the credentials of requests to the database: ID tokens and App Check tokens, as ``TokenGate`` does for functions, and access tokens of
/// service accounts.
package final class DatabaseCredentials: CredentialChecker {
    private let gate: TokenGate
    private let project: String
    private let messaging: MessagingFrontEnd
    private let loop: EventLoop
    private let log: Logger
    /// When refusals of each kind may be logged again, in milliseconds of the loop's clock.
    private var quietUntil: [Refusal: UInt64] = [:]

    /// A kind of refusal. A nil reason means that there was no token.
    private struct Refusal: Hashable {
        var isOfApp = false
        var reason: TokenRefusal?
    }

    /// Shortest time between two log lines about refusals of one kind, because clients repeat their requests.
    private static let quietMilliseconds: UInt64 = 1000
    /// Verdicts on the tokens in the gate's cache, by the serial number of their verification, so that `auth` for the rules is made once.
    private var verdicts: [UInt64: CredentialVerdict] = [:]
    private static let verdictsMax = 1024

    /// - Parameter messaging: issues and verifies the access tokens of service accounts.
    package init(gate: TokenGate, project: String, messaging: MessagingFrontEnd, loop: EventLoop, log: Logger) {
        self.gate = gate
        self.project = project
        self.messaging = messaging
        self.loop = loop
        self.log = log
    }

    package func known(_ token: Span<UInt8>) -> CredentialVerdict? {
        let prefix = DatabaseAccess.prefix
        if token.count > prefix.utf8CodeUnitCount, token.extracting(first: prefix.utf8CodeUnitCount).equals(prefix) {
            switch messaging.databaseAccess(token, project: project) {
            case .administrator(let ends): return .admin(expires: ends)
            case .expired: return .refused(.expired)
            case .refused: return .refused(.unauthorized)
            case .unavailable: return .refused(.unavailable)
            }
        }
        guard let verified = gate.cachedIDToken(token) else { return nil }
        if let verdict = verdicts[verified.serial] { return verdict }
        if verdicts.count >= Self.verdictsMax { verdicts.removeAll() }
        let verdict = Self.verdict(verified)
        verdicts[verified.serial] = verdict
        return verdict
    }

    package func check(_ token: [UInt8], completion: @escaping (CredentialVerdict) -> Void) {
        let bound = LoopBound((checker: self, answer: completion), loop: loop)
        gate.verifyIDToken(token, on: loop) { result, reason in
            if case .failure(let refusal) = result, let reason { bound.value.checker.tell(Refusal(reason: refusal), reason) }
            bound.value.answer(Self.verdict(result))
        }
    }

    // MARK: App Check

    package func knownApp(_ token: Span<UInt8>) -> AppVerdict? {
        guard token.count <= TokenVerifier.tokenBytesMax else { return .refused(.unreadable) }
        return gate.cachedAppCheckToken(token).map { Self.appVerdict($0) }
    }

    package func checkApp(_ token: [UInt8], completion: @escaping (AppVerdict) -> Void) {
        let bound = LoopBound((checker: self, answer: completion), loop: loop)
        gate.verifyAppCheckToken(token, on: loop) { result, reason in
            if case .failure(let refusal) = result, let reason {
                bound.value.checker.tell(Refusal(isOfApp: true, reason: refusal), "App Check: \(reason)")
            }
            bound.value.answer(Self.appVerdict(result))
        }
    }

    package func appWasMissing() {
        tell(Refusal(isOfApp: true), "the configuration has database.enforceAppCheck, and there is no App Check token")
    }

    private static func appVerdict(_ result: Result<VerifiedToken, TokenRefusal>) -> AppVerdict {
        switch result {
        case .success(let token): appVerdict(token)
        case .failure(.expired): .refused(.expired)
        case .failure(.malformed), .failure(.tooLong): .refused(.unreadable)
        case .failure(.keysUnavailable): .refused(.unavailable)
        case .failure: .refused(.unauthorized)
        }
    }

    private static func appVerdict(_ token: VerifiedToken) -> AppVerdict {
        .app(expires: isTimeless(token) ? nil : Int64(token.validUntil), isUnsigned: token.isUnsigned)
    }

    // MARK: Verdicts

    /// Logs why a token was refused. The client does not get the reason.
    private func tell(_ refusal: Refusal, _ reason: String) {
        let now = loop.nowMilliseconds
        guard now >= quietUntil[refusal] ?? 0 else { return }
        quietUntil[refusal] = now + Self.quietMilliseconds
        log.notice("a token for the database was refused", metadata: ["reason": "\(reason)"])
    }

    private static func verdict(_ result: Result<VerifiedToken, TokenRefusal>) -> CredentialVerdict {
        switch result {
        case .success(let token): verdict(token)
        case .failure(.expired): .refused(.expired)
        case .failure(.malformed), .failure(.tooLong): .refused(.unreadable)
        case .failure: .refused(.unauthorized)
        }
    }

    private static func verdict(_ token: VerifiedToken) -> CredentialVerdict {
        guard let claims = try? JSONValue(parsing: token.claims.span) else { return .refused(.unreadable) }
        return .user(
            auth: AuthVariable.make(uid: token.subject, claims: claims), expires: isTimeless(token) ? nil : Int64(token.validUntil),
            isUnsigned: token.isUnsigned)
    }
    /// Test tools write unsigned tokens that ended in 1970. The gate ignores their times, so they do not expire here either.
    private static func isTimeless(_ token: VerifiedToken) -> Bool {
        token.isUnsigned && token.validUntil * 1000 <= Int(WallClock.now().unixMilliseconds)
    }
}
