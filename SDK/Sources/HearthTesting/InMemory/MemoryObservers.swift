internal import HearthFunctions
internal import HearthJSON

/// The waiting calls of `observe` of the in-memory database.
struct MemoryObservers {
    private struct Wait {
        var number: Int
        var invocation: UInt64
        var payload: JSONValue
        var completion: @Sendable (ServiceOutcome) -> Void
    }

    private var waits: [Wait] = []
    private var lastNumber = 0

    private static let unchanged = ServiceOutcome.value(["changed": false])

    /// Adds a wait.
    ///
    /// - Parameter isOpen: whether the invocation has not ended.
    /// - Returns: its number, for ``expire(_:)``.
    mutating func add(
        _ payload: JSONValue, for invocation: UInt64, isOpen: Bool, completion: @escaping @Sendable (ServiceOutcome) -> Void
    ) -> Int {
        lastNumber += 1
        guard isOpen else {
            completion(Self.ended)
            return lastNumber
        }
        waits.append(Wait(number: lastNumber, invocation: invocation, payload: payload, completion: completion))
        return lastNumber
    }

    /// Answers the waits whose value is another one now.
    mutating func look(at database: MemoryDatabase) {
        answer { wait in
            let answer = database.observed(wait.payload)
            return answer.isChange ? answer.outcome : nil
        }
    }

    /// Ends a wait because its time is over.
    mutating func expire(_ number: Int) { answer { $0.number == number ? Self.unchanged : nil } }

    /// Ends the waits with this id.
    mutating func end(id: JSONValue?) { answer { $0.payload["id"] == id ? Self.unchanged : nil } }

    /// Ends the waits of an invocation that has ended.
    mutating func end(_ invocation: UInt64) { answer { $0.invocation == invocation ? Self.ended : nil } }

    /// Refuses all waits, because the test has ended.
    mutating func stop() {
        answer { _ in MemoryRefusal(reason: "unavailable", code: "unavailable", message: "The test has ended.").answer(path: "/") }
    }

    private static let ended = MemoryRefusal(reason: "cancelled", code: "cancelled", message: "the invocation has ended").answer(path: "/")

    private mutating func answer(_ make: (Wait) -> ServiceOutcome?) {
        let answers = waits.map { ($0, make($0)) }
        waits = answers.filter { $0.1 == nil }.map(\.0)
        for case (let wait, let outcome?) in answers { wait.completion(outcome) }
    }
}
