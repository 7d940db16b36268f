internal import HearthJSON

/// The values of a place over time: the current one, then the newest after each change.
///
///     for try await snapshot in database.reference("rooms/blue").observe(timeout: .seconds(30)) {
///         try await response.sendChunk(snapshot.value)
///     }
///
/// The next value is asked for when the loop has handled the last one. If there were several changes meanwhile, only the newest value
/// is given, so that nothing is queued for a slow function. Nothing is kept in the host while the loop handles a value.
public struct DatabaseObservation: AsyncSequence, Sendable {
    /// A value, when it was read.
    public typealias Element = DataSnapshot
    /// The reason why a loop ends early.
    public typealias Failure = DatabaseError

    let query: DatabaseQuery
    let timeout: Duration?

    /// Begins to observe. The time runs from now on.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(query, timeout) }

    /// The state of a loop over the values.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let query: DatabaseQuery
        private let end: ContinuousClock.Instant?
        /// The host's mark of the value that was given last.
        private var mark: String?
        private var isOver = false

        init(_ query: DatabaseQuery, _ timeout: Duration?) {
            self.query = query
            end = timeout.map { .now + $0 }
        }

        /// Waits for the next value.
        ///
        /// - Returns: nil at the end of the time, or when the task is cancelled.
        /// - Throws: `DatabaseError`, after which there are no further values.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws(DatabaseError) -> DataSnapshot? {
            do throws(DatabaseError) {
                while !isOver {
                    guard let snapshot = try await ask() else { continue }
                    return snapshot
                }
                return nil
            } catch {
                isOver = true
                throw error
            }
        }

        /// Asks the host once, which waits for a change. Nil without one.
        private mutating func ask() async throws(DatabaseError) -> DataSnapshot? {
            if let problem = query.problem { throw DatabaseError(.invalidArgument, problem, path: query.ref.path) }
            var call = DatabaseCall("observe", at: query.ref)
            call.add("form", "export")
            if let payload = query.payload { call.add("query", payload) }
            let id = AutoID.next()
            if let mark {
                call.add("mark", .string(mark))
                call.add("id", .string(id))
                if let end {
                    let milliseconds = ContinuousClock.now.duration(to: end).milliseconds
                    guard milliseconds > 0 else {
                        isOver = true
                        return nil
                    }
                    call.add("timeoutMilliseconds", .int(milliseconds))
                }
            }
            guard !Task.isCancelled, let body = try await call.send(waitingAs: id) else {
                isOver = true
                return nil
            }
            let answer = try query.ref.decode(Answer.self, from: body)
            guard answer.changed else { return nil }
            mark = answer.mark
            return DataSnapshot(query.ref, exported: answer.value ?? .null, order: query.isWhole ? nil : query.order ?? .priority)
        }
    }

    /// The answer of the service.
    private struct Answer: Decodable {
        var changed: Bool
        var value: JSONValue?
        var mark: String?
    }
}

extension DatabaseQueryable {
    /// Follows the value: gives the current one, and then the newest one after each change.
    ///
    ///     for try await snapshot in database.reference("rooms/blue/open").observe(timeout: .seconds(30)) {
    ///         if snapshot.value == true { return "open" }
    ///     }
    ///     return "still closed"
    ///
    /// The loop ends without an error when the time is over, when the function's task is cancelled, and when the call of the function has
    /// ended. It throws when the rules no longer allow the user to read, when the value has become too large, and when the host stops. A value
    /// that is set again to the same is no change.
    ///
    /// - Parameter timeout: the time from the beginning of the loop; nil for the time that the function itself has.
    public func observe(timeout: Duration? = nil) -> DatabaseObservation { DatabaseObservation(query: query, timeout: timeout) }
}

extension Duration {
    /// Rounded up, so that nothing ends too early.
    fileprivate var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (whole, isTooLong) = seconds.multipliedReportingOverflow(by: 1000)
        return isTooLong ? (seconds < 0 ? 0 : .max / 2) : whole + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
    }
}
