/// The decision of a transaction's block.
public enum TransactionResult<Value> {
    /// Replaces the value; nil removes it.
    case success(withValue: Value?)
    /// Leaves the value unchanged.
    case abort
}

/// The outcome of a transaction.
public struct TransactionOutcome<Value> {
    /// Whether the block's value was written; false when it said `.abort`.
    public let isCommitted: Bool
    /// The value that was written, server values filled in; the one that the block saw last when nothing was. Nil for none.
    public let value: Value?
}

extension TransactionResult: Sendable where Value: Sendable {}
extension TransactionOutcome: Sendable where Value: Sendable {}

/// The most tries of a transaction.
private let transactionTriesMax = 25

extension DatabaseReference {
    /// Replaces the value here by the result of `update`, with no other write in between.
    ///
    ///     let seats = try await show.child("seats").runTransaction { (seats: Int?) in
    ///         guard let seats, seats > 0 else { throw HttpsError(.resourceExhausted, "Sold out.") }
    ///         return seats - 1
    ///     }
    ///
    /// If another client has written meanwhile, the block runs again with the new value, up to 25 times. So it should do
    /// nothing but compute. To count, `ServerValue.increment` needs no transaction at all.
    ///
    /// The priorities of the value are removed, as by `setValue`.
    ///
    /// - Parameter update: gets the value, nil where there is none, and returns the new one, nil to remove it. An error that it throws
    ///   ends the transaction: nothing is written.
    /// - Returns: the value that was written.
    /// - Throws: the block's errors; `DatabaseError`, with `contention` after the last try; `CancellationError`.
    @discardableResult
    public func runTransaction<Value: Codable>(_ update: (Value?) throws -> Value?) async throws -> Value? {
        try await runTransaction { (current: Value?) in TransactionResult.success(withValue: try update(current)) }.value
    }

    /// The same with a block that can leave everything as it is, by returning `.abort`.
    ///
    ///     let outcome = try await seat.runTransaction { (owner: String?) -> TransactionResult<String> in
    ///         owner == nil ? .success(withValue: uid) : .abort
    ///     }
    ///     guard outcome.isCommitted else { throw HttpsError(.alreadyExists, "The seat is taken.") }
    @discardableResult
    public func runTransaction<Value: Codable>(
        _ update: (Value?) throws -> TransactionResult<Value>
    ) async throws -> TransactionOutcome<Value> {
        var get = DatabaseCall("get", at: self)
        get.add("etag", true)
        var seen = try decode(ValueAnswer<Value?>.self, from: try await get.send())
        for _ in 0..<transactionTriesMax {
            guard case .success(let value) = try update(seen.value) else {
                return TransactionOutcome(isCommitted: false, value: seen.value)
            }
            try Task.checkCancellation()
            var write = DatabaseCall("transaction", at: self)
            try write.add("value", encoding: value)
            write.add("etag", .string(seen.etag ?? ""))
            let body = try await write.send()
            if try decode(CommitAnswer.self, from: body).committed {
                return TransactionOutcome(isCommitted: true, value: try decode(ValueAnswer<Value?>.self, from: body).value)
            }
            seen = try decode(ValueAnswer<Value?>.self, from: body)
        }
        throw DatabaseError(.contention, "Others changed the value in each of \(transactionTriesMax) tries.", path: path)
    }
}

/// The part of the answer to `transaction` that does not depend on the value's type.
private struct CommitAnswer: Decodable {
    var committed: Bool
}
