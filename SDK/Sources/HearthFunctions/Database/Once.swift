internal import HearthJSON

/// Performs an update of the database unless one with the same id was performed before. Update and id are written in one step: both or neither,
/// also if the host is killed meanwhile.
///
///     OnValueCreated("countPosts", ref: "/posts/{id}") { event in
///         let isFirst = try await once(event.id, update: ["stats/posts": ServerValue.increment(1)])
///         if !isFirst { logger.info("The event was delivered again.") }
///     }
///
/// An event can be delivered more than once, with the same id. An effect outside the database, such as a mail, cannot be bound to it like this: call
/// `once` before it to have it at most once, after it to have it at least once.
///
/// The host remembers ids for `database.onceSeconds`, 30 days by default, out of reach of clients and rules. Each plugin and each database has ids of
/// its own. The ids of events are different for each function; prefix those of other systems, as in `once("payments/\(id)", ...)`.
///
/// - Parameters:
///   - id: up to 512 bytes.
///   - values: an object. Its names may be paths below the root; no name may lie below another. Null removes. Empty only remembers the id.
///   - instance: the database; nil for the project's default one.
/// - Returns: whether the update was performed now; false if it was before.
public func once(_ id: String, update values: JSONValue = [:], in instance: Database? = nil) async throws(DatabaseError) -> Bool {
    let root = (instance ?? database).reference()
    var call = DatabaseCall("once", at: root)
    call.add("key", .string(id))
    call.add("value", values)
    return try root.decode(OnceAnswer.self, from: try await call.send()).first
}

private struct OnceAnswer: Decodable {
    var first: Bool
}
