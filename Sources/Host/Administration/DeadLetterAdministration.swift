import AdminProtocol
import EventLoop
import HearthJSON
import HTTP
import Logs
import RealtimeDatabase

/// `databases/NAME/dead-letters`: events that were given up, listed, looked at, replayed and deleted.
struct DeadLetterAdministration {
    /// Nil for one to which nothing was written yet: no event of it has failed.
    let namespace: Namespace?
    let loop: EventLoop

    /// How many rows one transaction touches, so that writers do not wait for long.
    private static let batch = 100
    private static let pageMax = 1000

    /// What happens to those that are chosen.
    private enum Act: String {
        case replay, delete
    }

    func handle(_ call: AdminCall) throws(AdminError) {
        switch (call.segments.count, call.verb) {
        case (3, nil):
            try call.allow(.get)
            try list(call)
        case (4, nil) where call.exchange.method == .delete: act(.delete, [try Self.sequence(call.segments[3])], call)
        case (4, nil):
            try call.allow(.get, .delete)
            try show(call)
        case (_, let verb?):
            guard let act = Act(rawValue: verb) else { throw .noSuchResource }
            try call.allow(.post)
            try choose(act, call)
        default: throw .noSuchResource
        }
    }

    private static func sequence(_ text: String) throws(AdminError) -> UInt64 {
        guard let sequence = UInt64(text), sequence > 0 else { throw missing(text) }
        return sequence
    }

    private static func missing(_ id: String) -> AdminError { AdminError(.notFound, "there is no dead letter \(id)") }

    private static func failure(_ error: StoreError) -> AdminError { AdminError(.unavailable, "the outbox cannot be used: \(error.message)") }

    // MARK: Looking

    private func list(_ call: AdminCall) throws(AdminError) {
        let limit = try call.number("limit", default: 100, in: 1...Self.pageMax)
        let after = try call.parameters["after"].map { (text) throws(AdminError) in try Self.sequence(text) } ?? 0
        let function = call.parameters["function"]
        guard let namespace else { return call.answer(["deadLetters": []]) }
        namespace.withOutbox(on: loop) { (outbox) throws(StoreError) in
            // Others than those asked for may be many: a page may hold fewer than it could, or none, and still have a next one.
            try outbox.deadLetters(after: after, limit: limit)
        } completion: { [call = LoopBound(call, loop: loop)] result in
            switch result {
            case .success(let page): call.value.answer(Self.json(page, function))
            case .failure(let error): call.value.refuse(Self.failure(error))
            }
        }
    }

    private static func json(_ page: Outbox.DeadLetterPage, _ function: String?) -> JSONValue {
        let letters = page.letters.filter { function == nil || $0.event.function == function }
        var object: JSONObject = ["deadLetters": .array(letters.map { .object($0.summary) })]
        if !page.damaged.isEmpty { object["damaged"] = .array(page.damaged.map { .string("\($0)") }) }
        if page.dropped > 0 { object["dropped"] = JSONValue(page.dropped) }
        object["next"] = page.next.map { .string("\($0)") }
        return .object(object)
    }

    private func show(_ call: AdminCall) throws(AdminError) {
        let id = call.segments[3]
        let sequence = try Self.sequence(id)
        guard let namespace else { throw Self.missing(id) }
        namespace.withOutbox(on: loop) { (outbox) throws(StoreError) in
            try outbox.deadLetter(sequence)
        } completion: { [call = LoopBound(call, loop: loop)] result in
            switch result {
            case .success(let letter?): call.value.answer(.object(letter.details))
            case .success(nil): call.value.refuse(Self.missing(id))
            case .failure(let error): call.value.refuse(Self.failure(error))
            }
        }
    }

    // MARK: Acting

    /// One by its path; some by `ids`; of a function by `function`; without either, all.
    private func choose(_ act: Act, _ call: AdminCall) throws(AdminError) {
        if call.segments.count == 4 { return self.act(act, [try Self.sequence(call.segments[3])], call) }
        if let ids = call.body["ids"] {
            guard let texts = ids.array?.map(\.string), texts.count <= Self.pageMax else {
                throw AdminError(.invalidArgument, "ids must be a list of at most \(Self.pageMax) ids")
            }
            var sequences: [UInt64] = []
            for text in texts { sequences.append(try Self.sequence(text ?? "")) }
            return self.act(act, sequences, call)
        }
        let function = call.body["function"]
        guard function == nil || function?.string != nil else { throw AdminError(.invalidArgument, "function must be the name of a function") }
        actOnAll(act, call, function: function?.string, since: WallClock.now().unixMilliseconds, after: 0, count: 0)
    }

    private func act(_ act: Act, _ sequences: [UInt64], _ call: AdminCall) {
        let now = WallClock.now().unixMilliseconds
        guard let namespace else {
            return sequences.first.map { call.refuse(Self.missing("\($0)")) } ?? call.answer(["count": 0])
        }
        namespace.withOutbox(on: loop) { (outbox) throws(StoreError) -> Result<Int, MissingLetter> in
            // All or none: a wrong number should not leave the others half done.
            for sequence in sequences where try outbox.deadLetter(sequence) == nil { return .failure(MissingLetter(sequence: sequence)) }
            var count = 0
            for sequence in sequences where try Self.carryOut(act, sequence, outbox, now) { count += 1 }
            return .success(count)
        } completion: { [call = LoopBound(call, loop: loop)] result in
            switch result {
            case .success(.success(let count)): call.value.answer(["count": JSONValue(count)])
            case .success(.failure(let missing)): call.value.refuse(Self.missing("\(missing.sequence)"))
            case .failure(let error): call.value.refuse(Self.failure(error))
            }
        }
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

    /// A batch, then the next one. Those that are given up meanwhile are left alone, or a function that always fails would keep
    /// this going for ever.
    private func actOnAll(_ act: Act, _ call: AdminCall, function: String?, since: Int64, after: UInt64, count: Int) {
        guard let namespace else { return call.answer(["count": 0]) }
        namespace.withOutbox(on: loop) { (outbox) throws(StoreError) -> (next: UInt64?, count: Int) in
            let page = try outbox.deadLetters(after: after, limit: Self.batch)
            var done = 0
            for letter in page.letters where letter.time < since && (function == nil || letter.event.function == function) {
                if try Self.carryOut(act, letter.event.sequence, outbox, since) { done += 1 }
            }
            if case .delete = act, function == nil {
                for sequence in page.damaged where try outbox.deleteDeadLetter(sequence) { done += 1 }
            }
            return (page.next, done)
        } completion: { [self, call = LoopBound(call, loop: loop)] result in
            switch result {
            case .success((let next?, let done)):
                // Whoever asked may have gone; what was begun is still done.
                actOnAll(act, call.value, function: function, since: since, after: next, count: count + done)
            case .success((nil, let done)): call.value.answer(["count": JSONValue(count + done)])
            case .failure(let error): call.value.refuse(Self.failure(error))
            }
        }
    }
}
