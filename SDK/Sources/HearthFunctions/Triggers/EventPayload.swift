internal import HearthJSON

/// The values of an event as the type that a function asks for.
enum EventPayload {
    /// `{"before": ..., "after": ...}`; a value that is not there is null.
    private struct Both<Value: Decodable>: Decodable {
        var before: Value
        var after: Value
    }

    private struct After<Value: Decodable>: Decodable {
        var after: Value
    }

    private struct Before<Value: Decodable>: Decodable {
        var before: Value
    }

    static func change<Value: Decodable>(_ invocation: Invocation, _ head: EventHead) throws -> Change<Value> {
        let both = try decode(Both<Value>.self, invocation, head)
        return Change(before: both.before, after: both.after)
    }

    static func created<Value: Decodable>(_ invocation: Invocation, _ head: EventHead) throws -> Value {
        try decode(After<Value>.self, invocation, head).after
    }

    static func deleted<Value: Decodable>(_ invocation: Invocation, _ head: EventHead) throws -> Value {
        try decode(Before<Value>.self, invocation, head).before
    }

    static func changeOfSnapshots(_ invocation: Invocation, _ head: EventHead) throws -> Change<DataSnapshot> {
        let ref = head.ref
        if head.isTruncated { return Change(before: DataSnapshot(ref, value: .null), after: DataSnapshot(ref, value: .null)) }
        let both = try decode(Both<JSONValue>.self, invocation, head)
        return Change(
            before: DataSnapshot(ref, value: both.before), after: DataSnapshot(ref, value: both.after))
    }

    static func createdSnapshot(_ invocation: Invocation, _ head: EventHead) throws -> DataSnapshot {
        try changeOfSnapshots(invocation, head).after
    }

    static func deletedSnapshot(_ invocation: Invocation, _ head: EventHead) throws -> DataSnapshot {
        try changeOfSnapshots(invocation, head).before
    }

    /// A value of another shape fails the event with the place that is wrong: "event.after.text is missing."
    private static func decode<T: Decodable>(_ type: T.Type, _ invocation: Invocation, _ head: EventHead) throws(HttpsError) -> T {
        if head.isTruncated {
            throw HttpsError(.outOfRange, "The event's values are too large to be kept; use snapshots and event.isTruncated.")
        }
        do {
            return try invocation.withPayload { try JSONDecoder().decode(type, from: $0) }
        } catch {
            throw HttpsError(.invalidArgument, shapeProblem(error, root: "event"))
        }
    }
}
