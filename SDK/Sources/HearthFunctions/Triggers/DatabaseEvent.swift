internal import HearthJSON

/// A write to the database that runs a function: the place, the values, and the writer.
///
/// An event is delivered at least once. When it is delivered again, as after a power failure, it has the same `id`.
public struct DatabaseEvent<Data> {
    /// The value that was created or deleted; for an update or a write, the values before and after.
    public let data: Data
    /// The id of the event, the same in every attempt.
    public let id: String
    /// The time at which the write was committed, in RFC 3339, such as "2026-11-21T16:04:05.123Z".
    public let time: String
    /// The place that matched the function's pattern. Reading and writing through it is done as an administrator.
    public let ref: DatabaseReference
    /// The keys that the pattern has captured: `event.params["pushId"]`.
    public let params: [String: String]
    /// The name of the database.
    public let instance: String
    /// The region of the database.
    public let location: String
    /// The kind of writer.
    public let authType: AuthType
    /// The id of the user who wrote; for an administrator the account's name, where it has one.
    public let authID: String?
    /// 1 at the first delivery, more when the event is delivered again.
    public let attempt: Int
    /// Whether the values were too large for the host to keep: `data` is then an empty snapshot, and `ref` reads the current
    /// value. A function that asks for values of a type fails instead.
    public let isTruncated: Bool
    private let invocation: Invocation

    /// The kind of a writer.
    public enum AuthType: String, Sendable {
        /// A user who has signed in.
        case appUser = "app_user"
        /// An administrator, to whom no rules apply: the console, an admin SDK, another function.
        case admin
        /// A client that has not signed in.
        case unauthenticated
        /// The host does not know.
        case unknown
    }

    /// The event's place in a trace, as a W3C `traceparent`: a part of the trace that the write was a part of.
    public var traceparent: String? { invocation.context.traceparent }
    /// The W3C `tracestate` of the trace, to be sent on with ``traceparent``.
    public var tracestate: String? { invocation.context.tracestate }

    /// The time at which the function's task is cancelled; nil for never.
    public var deadline: ContinuousClock.Instant? { invocation.deadline }

    init(_ invocation: Invocation, _ head: EventHead, _ data: Data) {
        self.data = data
        self.id = head.id
        self.time = head.time
        self.ref = head.ref
        self.params = head.params
        self.instance = head.instance
        self.location = head.location
        self.authType = AuthType(rawValue: head.authType) ?? .unknown
        self.authID = head.authID
        self.attempt = head.attempt
        self.isTruncated = head.isTruncated
        self.invocation = invocation
    }
}

extension DatabaseEvent: Sendable where Data: Sendable {}

/// A value before and after a write.
public struct Change<Value> {
    /// As it was.
    public let before: Value
    /// As it is now.
    public let after: Value
}

extension Change: Sendable where Value: Sendable {}

/// An event without its values: the member "event" of the context, as `hearth.h` describes it.
struct EventHead {
    private let members: JSONValue

    /// Whether the host did not keep the event's values.
    let isTruncated: Bool

    init(_ invocation: Invocation) {
        members = invocation.context.event ?? [:]
        isTruncated = invocation.withPayload { Self.saysTruncated($0) }
    }

    /// `{"truncated":true}`. A longer payload has values, and is not parsed here.
    private static func saysTruncated(_ payload: Span<UInt8>) -> Bool {
        guard payload.count < 64, let value = try? JSONValue(parsing: payload) else { return false }
        return value["truncated"] == true
    }

    var id: String { text("id") ?? "" }
    var time: String { text("time") ?? "" }
    var instance: String { text("instance") ?? "" }
    var location: String { text("location") ?? "" }
    var authType: String { text("authType") ?? "" }
    var authID: String? { text("authId") }
    var attempt: Int { members["attempt"]?.int ?? 1 }

    var ref: DatabaseReference {
        let all = instance.isEmpty ? database : database.instance(instance)
        return all.reference(text("ref") ?? "")
    }

    var params: [String: String] {
        var params: [String: String] = [:]
        for (name, value) in members["params"]?.object ?? [:] { params[name] = value.string }
        return params
    }

    private func text(_ name: String) -> String? { members[name]?.string }
}

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

/// Runs a function for an event. The host needs no result, only whether the function failed.
final class EventHandler: FunctionHandler, @unchecked Sendable {
    // Immutable and Sendable.
    private let body: @Sendable (Invocation) async throws -> Void

    init(_ body: @escaping @Sendable (Invocation) async throws -> Void) { self.body = body }

    override func start(_ invocation: Invocation) {
        let task = Task.immediate(executorPreference: invocation) { await self.run(invocation) }
        if !invocation.isAnswered { invocation.task = task }
    }

    private func run(_ invocation: Invocation) async {
        do {
            try await body(invocation)
            invocation.answerNothing()
        } catch {
            invocation.failEvent(error)
        }
    }
}

extension FunctionDefinition {
    /// A function that runs on writes.
    init<Data>(
        _ name: String, _ options: Options, _ trigger: DatabaseTrigger,
        reading read: @escaping @Sendable (Invocation, EventHead) throws -> Data,
        _ handler: @escaping @Sendable (DatabaseEvent<Data>) async throws -> Void
    ) {
        let whole = EventHandler { invocation in
            let head = EventHead(invocation)
            try await handler(DatabaseEvent(invocation, head, try read(invocation, head)))
        }
        self.init(path: [name], options: options, trigger: .database(trigger), handler: whole)
    }
}
