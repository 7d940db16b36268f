import Synchronization

/// What came of sends.
public struct SendFigures: Sendable {
    /// What came of one.
    public enum Outcome: Int, CaseIterable, Sendable {
        /// Its message is stored, or the next service has it.
        case accepted
        /// Nothing was to be sent, and nothing was wrong.
        case checked
        /// The request, or the message, breaks a rule.
        case invalid
        /// The receiver is not registered any more.
        case unregistered
        /// The sender may not, or not to this receiver.
        case forbidden
        case quotaExceeded
        case unavailable
        /// Something is broken, here or at the next service.
        case failed

        init(_ error: MessagingError) {
            self =
                switch error.kind {
                case .malformed, .invalidArgument, .alreadyExists, .notFound: .invalid
                case .unregistered: .unregistered
                case .senderMismatch, .permissionDenied, .insufficientScope, .unauthenticated, .invalidCredential: .forbidden
                case .quotaExceeded: .quotaExceeded
                case .unavailable: .unavailable
                case .thirdPartyAuthentication, .internalError: .failed
                }
        }
    }

    private var counts = InlineArray<8, Int>(repeating: 0)

    /// Nothing was sent yet.
    public init() {}

    /// How many sends came to this.
    public func count(_ outcome: Outcome) -> Int { counts[outcome.rawValue] }

    mutating func add(_ outcome: Outcome) { counts[outcome.rawValue] += 1 }
}

/// Counts sends, whatever loop they come on.
final class SendCounter: Sendable {
    private let counted = Mutex(SendFigures())

    var figures: SendFigures { counted.withLock { $0 } }

    func add(_ result: Result<String, MessagingError>, isValidateOnly: Bool) {
        switch result {
        case .success: add(isValidateOnly ? .checked : .accepted)
        case .failure(let error): add(SendFigures.Outcome(error))
        }
    }

    func add(_ outcome: SendFigures.Outcome) { counted.withLock { $0.add(outcome) } }
}
