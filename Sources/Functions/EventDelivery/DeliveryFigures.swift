import RealtimeDatabase

/// What is counted of the delivery of events. Plain numbers, on the home loop only.
package struct DeliveryFigures: Sendable {
    /// What came of an attempt.
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
    /// Attempts that were put off because an earlier one failed.
    package var retries = 0
    /// Dead letters that made room for newer ones.
    package var droppedDeadLetters = 0

    package func count(_ outcome: Outcome) -> Int { attempts[outcome.rawValue] }
    package func count(_ reason: DeadLetter.Reason) -> Int { deadLetters[Int(reason.rawValue)] }

    mutating func add(_ result: AttemptResult) { attempts[Outcome(result).rawValue] += 1 }
    mutating func add(_ reason: DeadLetter.Reason) { deadLetters[Int(reason.rawValue)] += 1 }
}
