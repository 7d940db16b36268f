import AdminProtocol
import EventLoop
import HearthJSON
import HTTP
import Logs
import RealtimeDatabase
import Store

/// `databases/NAME/dead-letters` and `users/dead-letters`: lists, shows, replays and deletes events whose functions have failed for good.
struct DeadLetterAdministration {
    /// The outbox of the database or of the users; nil before the database's first write: no event of it has failed.
    let outbox: (any OutboxAccess)?
    let loop: EventLoop
    /// The number of segments of the list's path.
    let depth: Int

    /// The number of rows that one transaction changes at most, so that writers do not wait for long.
    private static let batch = 100

    /// The action on the selected dead letters.
    private enum Act: String {
        case replay, delete
    }

    func handle(_ call: AdminCall) async throws(AdminError) -> JSONValue {
        switch (call.segments.count - depth, call.verb) {
        case (0, nil):
            try call.allow(.get)
            return try await list(call).json
        case (1, nil) where call.exchange.method == .delete:
            return try await act(.delete, [try Self.sequence(call.segments[depth])]).json
        case (1, nil):
            try call.allow(.get, .delete)
            return try await show(call.segments[depth]).json
        case (_, let verb?):
            guard let act = Act(rawValue: verb) else { throw .noSuchResource }
            try call.allow(.post)
            return try await choose(act, call).json
        default: throw .noSuchResource
        }
    }

    private static func sequence(_ text: String) throws(AdminError) -> UInt64 {
        guard let sequence = UInt64(text), sequence > 0 else { throw missing(text) }
        return sequence
    }

    private static func missing(_ id: String) -> AdminError { AdminError(.notFound, "there is no dead letter \(id)") }

    /// Runs `work` in a transaction on the outbox.
    private func run<Value: Sendable>(
        on outbox: any OutboxAccess, _ work: @escaping @Sendable (Outbox) throws(StoreError) -> Value
    ) async throws(AdminError) -> Value {
        let result = await withCheckedContinuation { continuation in
            outbox.withOutbox(on: loop, work) { continuation.resume(returning: $0) }
        }
        return try result.mapError { AdminError(.unavailable, "the outbox cannot be used: \($0.message)") }.get()
    }

    // MARK: Reading

    private func list(_ call: AdminCall) async throws(AdminError) -> DeadLetterList {
        let limit = try call.number("limit", default: 100, in: 1...DeadLetterSelection.countMax)
        let after = try call.parameters["after"].map { (text) throws(AdminError) in try Self.sequence(text) } ?? 0
        let function = call.parameters["function"]
        guard let outbox else { return DeadLetterList(deadLetters: []) }
        // Most dead letters may be of other functions, so a page can be short or empty although there is a next one.
        let page = try await run(on: outbox) { (outbox) throws(StoreError) in try outbox.deadLetters(after: after, limit: limit) }
        let letters = page.letters.filter { function == nil || $0.event.function == function }
        return DeadLetterList(
            deadLetters: letters.map { DeadLetterEntry($0) }, damaged: page.damaged.map { "\($0)" }, dropped: Int(page.dropped),
            next: page.next.map { "\($0)" })
    }

    private func show(_ id: String) async throws(AdminError) -> DeadLetterEntry {
        let sequence = try Self.sequence(id)
        guard let outbox else { throw Self.missing(id) }
        let letter = try await run(on: outbox) { (outbox) throws(StoreError) in try outbox.deadLetter(sequence) }
        guard let letter else { throw Self.missing(id) }
        return DeadLetterEntry(inDetail: letter)
    }

    // MARK: Replaying and deleting

    /// Selects one by the path, several by `ids`, those of a function by `function`; without any of these, all.
    private func choose(_ act: Act, _ call: AdminCall) async throws(AdminError) -> CountAnswer {
        if call.segments.count == depth + 1 { return try await self.act(act, [try Self.sequence(call.segments[depth])]) }
        let selection = try DeadLetterSelection(parsing: call.body)
        guard let ids = selection.ids else { return try await actOnAll(act, function: selection.function) }
        var sequences: [UInt64] = []
        for id in ids { sequences.append(try Self.sequence(id)) }
        return try await self.act(act, sequences)
    }

    private func act(_ act: Act, _ sequences: [UInt64]) async throws(AdminError) -> CountAnswer {
        let now = WallClock.now().unixMilliseconds
        guard let outbox else {
            if let first = sequences.first { throw Self.missing("\(first)") }
            return CountAnswer(count: 0)
        }
        let outcome = try await run(on: outbox) { (outbox) throws(StoreError) -> Result<Int, MissingLetter> in
            // Checks all ids first: an unknown one must not leave the others half done.
            for sequence in sequences where try outbox.deadLetter(sequence) == nil { return .failure(MissingLetter(sequence: sequence)) }
            var count = 0
            for sequence in sequences where try Self.carryOut(act, sequence, outbox, now) { count += 1 }
            return .success(count)
        }
        return CountAnswer(count: try outcome.mapError { Self.missing("\($0.sequence)") }.get())
    }

    private struct MissingLetter: Error {
        let sequence: UInt64
    }

    private static func carryOut(_ act: Act, _ sequence: UInt64, _ outbox: Outbox, _ now: Int64) throws(StoreError) -> Bool {
        switch act {
        case .replay: try outbox.replay(sequence, now: now)
        case .delete: try outbox.deleteDeadLetter(sequence)
        }
    }

    /// Handles one batch after the other, even if the client has left. Events that become dead letters meanwhile are left out, because a function
    /// that always fails would keep this going forever.
    private func actOnAll(_ act: Act, function: String?) async throws(AdminError) -> CountAnswer {
        guard let outbox else { return CountAnswer(count: 0) }
        let since = WallClock.now().unixMilliseconds
        var total = 0
        var next: UInt64? = 0
        while let after = next {
            let (following, count) = try await run(on: outbox) { (outbox) throws(StoreError) -> (next: UInt64?, count: Int) in
                let page = try outbox.deadLetters(after: after, limit: Self.batch)
                var done = 0
                for letter in page.letters where letter.time < since && (function == nil || letter.event.function == function) {
                    if try Self.carryOut(act, letter.event.sequence, outbox, since) { done += 1 }
                }
                if case .delete = act, function == nil {
                    for sequence in page.damaged where try outbox.deleteDeadLetter(sequence) { done += 1 }
                }
                return (page.next, done)
            }
            total += count
            next = following
        }
        return CountAnswer(count: total)
    }
}
