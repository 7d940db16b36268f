// A write above a place counts too: it runs the function once for each matching place whose value it changes. So does a write
// below it. The function runs after the write is durable. An error that it throws fails the event.

/// A function that runs when a database value is created.
///
///     OnValueCreated("makeUppercase", ref: "/messages/{pushId}/original") { (event: DatabaseEvent<String>) in
///         try await event.ref.parent?.child("uppercase").setValue(event.data.uppercased())
///     }
public struct OnValueCreated: FunctionsContent {
    /// The one function.
    public let definitions: [FunctionDefinition]

    /// A function that gets snapshots.
    ///
    /// - Parameters:
    ///   - name: the function's name.
    ///   - ref: the places: a path with `{name}` for one key (found in `event.params`), `*` for any key, and at most one
    ///     `{name=**}` or `**` for several keys.
    ///   - instance: the databases: a name, or a pattern with `*`. Default: all.
    ///   - retry: whether a failed event is tried again, with growing delays, for a day. Default: false.
    ///   - options: how the function runs.
    ///   - handler: the function.
    public init(
        _ name: String, ref: String, instance: String = "*", retry: Bool = false, options: Options = Options(),
        _ handler: @escaping @Sendable (DatabaseEvent<DataSnapshot>) async throws -> Void
    ) {
        let trigger = DatabaseTrigger(kind: .created, ref: ref, instance: instance, retry: retry)
        definitions = [FunctionDefinition(name, options, trigger, reading: EventPayload.createdSnapshot, handler)]
    }

    /// A function that gets values of a type: `DatabaseEvent<Message>`. A value of another shape fails the event.
    public init<Value: Decodable & SendableMetatype>(
        _ name: String, ref: String, instance: String = "*", retry: Bool = false, options: Options = Options(),
        _ handler: @escaping @Sendable (DatabaseEvent<Value>) async throws -> Void
    ) {
        let trigger = DatabaseTrigger(kind: .created, ref: ref, instance: instance, retry: retry)
        definitions = [FunctionDefinition(name, options, trigger, reading: EventPayload.created, handler)]
    }
}

/// A function that runs when a database value changes, but neither is created nor deleted.
///
///     OnValueUpdated("noteRename", ref: "/users/{uid}/name") { (event: DatabaseEvent<Change<String>>) in
///         logger.info("renamed", metadata: ["from": "\(event.data.before)", "to": "\(event.data.after)"])
///     }
public struct OnValueUpdated: FunctionsContent {
    /// The one function.
    public let definitions: [FunctionDefinition]

    /// A function that gets snapshots.
    ///
    /// - Parameters:
    ///   - name: the function's name.
    ///   - ref: the places: a path with `{name}` for one key (found in `event.params`), `*` for any key, and at most one
    ///     `{name=**}` or `**` for several keys.
    ///   - instance: the databases: a name, or a pattern with `*`. Default: all.
    ///   - retry: whether a failed event is tried again, with growing delays, for a day. Default: false.
    ///   - options: how the function runs.
    ///   - handler: the function.
    public init(
        _ name: String, ref: String, instance: String = "*", retry: Bool = false, options: Options = Options(),
        _ handler: @escaping @Sendable (DatabaseEvent<Change<DataSnapshot>>) async throws -> Void
    ) {
        let trigger = DatabaseTrigger(kind: .updated, ref: ref, instance: instance, retry: retry)
        definitions = [FunctionDefinition(name, options, trigger, reading: EventPayload.changeOfSnapshots, handler)]
    }

    /// A function that gets values of a type: `DatabaseEvent<Change<Message>>`. A value of another shape fails the event.
    public init<Value: Decodable & SendableMetatype>(
        _ name: String, ref: String, instance: String = "*", retry: Bool = false, options: Options = Options(),
        _ handler: @escaping @Sendable (DatabaseEvent<Change<Value>>) async throws -> Void
    ) {
        let trigger = DatabaseTrigger(kind: .updated, ref: ref, instance: instance, retry: retry)
        definitions = [FunctionDefinition(name, options, trigger, reading: EventPayload.change, handler)]
    }
}

/// A function that runs when a database value is deleted.
///
///     OnValueDeleted("forget", ref: "/users/{uid}") { event in
///         guard let uid = event.params["uid"] else { return }
///         try await database.reference("profiles/\(uid)").removeValue()
///     }
public struct OnValueDeleted: FunctionsContent {
    /// The one function.
    public let definitions: [FunctionDefinition]

    /// A function that gets snapshots.
    ///
    /// - Parameters:
    ///   - name: the function's name.
    ///   - ref: the places: a path with `{name}` for one key (found in `event.params`), `*` for any key, and at most one
    ///     `{name=**}` or `**` for several keys.
    ///   - instance: the databases: a name, or a pattern with `*`. Default: all.
    ///   - retry: whether a failed event is tried again, with growing delays, for a day. Default: false.
    ///   - options: how the function runs.
    ///   - handler: the function.
    public init(
        _ name: String, ref: String, instance: String = "*", retry: Bool = false, options: Options = Options(),
        _ handler: @escaping @Sendable (DatabaseEvent<DataSnapshot>) async throws -> Void
    ) {
        let trigger = DatabaseTrigger(kind: .deleted, ref: ref, instance: instance, retry: retry)
        definitions = [FunctionDefinition(name, options, trigger, reading: EventPayload.deletedSnapshot, handler)]
    }

    /// A function that gets values of a type: `DatabaseEvent<Message>`. A value of another shape fails the event.
    public init<Value: Decodable & SendableMetatype>(
        _ name: String, ref: String, instance: String = "*", retry: Bool = false, options: Options = Options(),
        _ handler: @escaping @Sendable (DatabaseEvent<Value>) async throws -> Void
    ) {
        let trigger = DatabaseTrigger(kind: .deleted, ref: ref, instance: instance, retry: retry)
        definitions = [FunctionDefinition(name, options, trigger, reading: EventPayload.deleted, handler)]
    }
}

/// A function that runs when a database value is created, changed or deleted.
///
///     OnValueWritten("countFollowers", ref: "/followers/{followed}/{follower}") { event in
///         let change = (event.data.after.exists() ? 1 : 0) - (event.data.before.exists() ? 1 : 0)
///         try await database.reference("counts/\(event.params["followed"] ?? "")").setValue(ServerValue.increment(change))
///     }
public struct OnValueWritten: FunctionsContent {
    /// The one function.
    public let definitions: [FunctionDefinition]

    /// A function that gets snapshots.
    ///
    /// - Parameters:
    ///   - name: the function's name.
    ///   - ref: the places: a path with `{name}` for one key (found in `event.params`), `*` for any key, and at most one
    ///     `{name=**}` or `**` for several keys.
    ///   - instance: the databases: a name, or a pattern with `*`. Default: all.
    ///   - retry: whether a failed event is tried again, with growing delays, for a day. Default: false.
    ///   - options: how the function runs.
    ///   - handler: the function.
    public init(
        _ name: String, ref: String, instance: String = "*", retry: Bool = false, options: Options = Options(),
        _ handler: @escaping @Sendable (DatabaseEvent<Change<DataSnapshot>>) async throws -> Void
    ) {
        let trigger = DatabaseTrigger(kind: .written, ref: ref, instance: instance, retry: retry)
        definitions = [FunctionDefinition(name, options, trigger, reading: EventPayload.changeOfSnapshots, handler)]
    }

    /// A function that gets values of a type: `DatabaseEvent<Change<Message?>>`. The type must be optional, since either side may be missing.
    public init<Value: Decodable & SendableMetatype>(
        _ name: String, ref: String, instance: String = "*", retry: Bool = false, options: Options = Options(),
        _ handler: @escaping @Sendable (DatabaseEvent<Change<Value>>) async throws -> Void
    ) {
        var trigger = DatabaseTrigger(kind: .written, ref: ref, instance: instance, retry: retry)
        if !(Value.self is any ExpressibleByNilLiteral.Type) {
            trigger.problem = "its values are \(Value.self), but either side of a write may be missing: use \(Value.self)?"
        }
        definitions = [FunctionDefinition(name, options, trigger, reading: EventPayload.change, handler)]
    }
}
