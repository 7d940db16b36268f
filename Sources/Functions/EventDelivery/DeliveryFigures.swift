import RealtimeDatabase

/// Metrics of event delivery. Used on the home loop only.
package struct DeliveryFigures: Sendable {
    /// The outcome of an attempt.
    package enum Outcome: Int, CaseIterable, Sendable {
        case succeeded, failed, interrupted, refused, stopped

        init(_ result: AttemptResult) {
            self =
                switch result {
                case .succeeded: .succeeded
                case .failed: .failed
                case .interrupted: .interrupted
                case .refused: .refused
                case .stopped: .stopped
                }
        }
    }

    private var attempts = InlineArray<5, Int>(repeating: 0)
    private var deadLetters = InlineArray<5, Int>(repeating: 0)
    /// Failed attempts that were scheduled again.
    package var retries = 0
    /// Dead letters that were dropped to make room for newer ones.
    package var droppedDeadLetters = 0

    package func count(_ outcome: Outcome) -> Int { attempts[outcome.rawValue] }
    package func count(_ reason: DeadLetter.Reason) -> Int { deadLetters[Int(reason.rawValue)] }

    mutating func add(_ result: AttemptResult) { attempts[Outcome(result).rawValue] += 1 }
    mutating func add(_ reason: DeadLetter.Reason) { deadLetters[Int(reason.rawValue)] += 1 }
}
