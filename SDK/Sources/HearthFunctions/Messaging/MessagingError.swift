internal import HearthJSON

/// Why a message was not taken, or a subscription not changed.
public struct MessagingError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What kind of refusal it is.
    public enum Code: String, Sendable, CaseIterable {
        /// The message breaks a rule; ``fieldViolations`` say where.
        case invalidArgument = "invalid-argument"
        /// The target is not registered any more: forget it.
        case unregistered
        /// The target belongs to another project.
        case senderIDMismatch = "sender-id-mismatch"
        /// The host's credentials may not send for this project.
        case permissionDenied = "permission-denied"
        /// The host's credentials are none, or too old.
        case unauthenticated
        /// Too many messages; ``retryAfter`` says when to try again.
        case quotaExceeded = "quota-exceeded"
        /// The device's own push service refused the host's credentials for it.
        case thirdPartyAuth = "third-party-auth-error"
        /// The service cannot be reached, or is about to stop. Nothing was sent.
        case unavailable
        /// What should not happen.
        case `internal`
    }

    /// A rule that a field breaks.
    public struct FieldViolation: Sendable, Hashable {
        /// Its path, such as "message.android.ttl".
        public var field: String
        /// The rule, as a sentence.
        public var description: String

        /// A violation as the service names it.
        public init(field: String, description: String) {
            self.field = field
            self.description = description
        }
    }

    /// What kind of refusal it is.
    public var code: Code
    /// A sentence for the log.
    public var message: String
    /// The fields that break a rule; empty where none is at fault.
    public var fieldViolations: [FieldViolation]
    /// When to try again, where the service says so.
    public var retryAfter: Duration?

    /// An error as the service makes it, for tests of a plugin.
    public init(_ code: Code, _ message: String, fieldViolations: [FieldViolation] = [], retryAfter: Duration? = nil) {
        self.code = code
        self.message = message
        self.fieldViolations = fieldViolations
        self.retryAfter = retryAfter
    }

    /// "invalid-argument: Request contains an invalid argument. (message.android.ttl: ...)"
    public var description: String {
        let places = fieldViolations.map { "\($0.field): \($0.description)" }.joined(separator: "; ")
        return "\(code.rawValue): \(message)\(places.isEmpty ? "" : " (\(places))")"
    }
}

extension HttpsError {
    /// The error that tells a caller what the messaging service said.
    public init(_ error: MessagingError) {
        let code: Code =
            switch error.code {
            case .invalidArgument: .invalidArgument
            case .unregistered: .notFound
            case .senderIDMismatch, .permissionDenied: .permissionDenied
            case .unauthenticated, .thirdPartyAuth: .failedPrecondition
            case .quotaExceeded: .resourceExhausted
            case .unavailable: .unavailable
            case .internal: .internal
            }
        self.init(code, error.message)
    }
}

extension MessagingError {
    /// The service's error: `{"code", "message", "details": {"reason", "fieldViolations", "retryAfterSeconds"}}`.
    init(failure: JSONValue) {
        let details = failure["details"]
        let code = (details?["reason"]?.string ?? failure["code"]?.string).flatMap(Code.init(rawValue:))
        let violations = (details?["fieldViolations"]?.array ?? []).map {
            FieldViolation(field: $0["field"]?.string ?? "", description: $0["description"]?.string ?? "")
        }
        self.init(
            code ?? .internal, failure["message"]?.string ?? "The messaging service failed without saying why.",
            fieldViolations: violations, retryAfter: details?["retryAfterSeconds"]?.int.map { .seconds($0) })
    }
}
