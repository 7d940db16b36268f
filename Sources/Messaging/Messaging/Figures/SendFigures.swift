import Synchronization

/// The numbers of sends by outcome.
public struct SendFigures: Sendable {
    /// The outcome of a send.
    public enum Outcome: Int, CaseIterable, Sendable {
        /// The message is stored, or the next service has accepted it.
        case accepted
        /// The message was only to be checked, and is valid.
        case checked
        /// The request or the message is invalid.
        case invalid
        /// The receiver is not registered any more.
        case unregistered
        /// The sender may not send, or not to this receiver.
        case forbidden
        case quotaExceeded
        case unavailable
        /// Something is broken, here or in the next service.
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

    /// Figures of no sends.
    public init() {}

    /// The number of sends with this outcome.
    public func count(_ outcome: Outcome) -> Int { counts[outcome.rawValue] }

    mutating func add(_ outcome: Outcome) { counts[outcome.rawValue] += 1 }
}

/// Counts sends. Can be used from any thread.
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
