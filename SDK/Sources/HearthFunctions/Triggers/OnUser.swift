internal import HearthJSON

// The function runs after the user is created or deleted for good. It cannot prevent that: see BeforeUserCreated. An error that it throws
// fails the event.

/// The creation or deletion of a user.
///
/// An event is delivered at least once. When it is delivered again, as after a power failure, it has the same `id`.
public struct AuthEvent: Sendable {
    /// The user: after the creation, with the first sign-in; or before the deletion.
    public let data: AuthUserRecord
    /// The id of the event, the same in every attempt.
    public let id: String
    /// When the user was created or deleted, in RFC 3339, such as "2026-11-21T16:04:05.123Z".
    public let time: String
    /// The tenant of the user; nil for users of the project itself.
    public let tenantID: String?
    /// 1 at the first delivery, more when the event is delivered again.
    public let attempt: Int
    private let invocation: Invocation

    /// The event's place in a trace, as a W3C `traceparent`.
    public var traceparent: String? { invocation.context.traceparent }
    /// The W3C `tracestate` of the trace, to be sent on with ``traceparent``.
    public var tracestate: String? { invocation.context.tracestate }
    /// The time at which the function's task is cancelled; nil for never.
    public var deadline: ContinuousClock.Instant? { invocation.deadline }

    init(_ invocation: Invocation) throws(HttpsError) {
        let record: JSONValue?
        do { record = try invocation.withPayload { try JSONValue(parsing: $0) } } catch { record = nil }
        guard let user = record.flatMap({ AuthUserRecord(json: $0) }) else {
            throw HttpsError(.invalidArgument, "The event has no user with a uid.")
        }
        let head = invocation.context.event ?? [:]
        data = user
        id = head["id"]?.string ?? ""
        time = head["time"]?.string ?? ""
        tenantID = user.tenantID
        attempt = head["attempt"]?.int ?? 1
        self.invocation = invocation
    }
}

/// A function that runs when a user is created: by signing up in any way, by the first sign-in with a provider, a phone number, a link or a
/// custom token, or by an administrator. Imports, and ways to sign in that a user adds, do not run it.
///
///     OnUserCreated("welcome", retry: true) { event in
///         try await database.reference("profiles/\(event.data.uid)").setValue(["name": .string(event.data.displayName ?? "")])
///     }
public struct OnUserCreated: FunctionsContent {
    /// The one function.
    public let definitions: [FunctionDefinition]

    /// - Parameters:
    ///   - name: the function's name.
    ///   - users: the users that count. Default: all.
    ///   - retry: whether a failed event is tried again, with growing delays, for a day. Default: false.
    ///   - options: how the function runs.
    ///   - handler: the function.
    public init(
        _ name: String, users: UserScope = .all, retry: Bool = false, options: Options = Options(),
        _ handler: @escaping @Sendable (AuthEvent) async throws -> Void
    ) {
        definitions = [FunctionDefinition(name, options, AuthTrigger(kind: .created, scope: users, retry: retry), handler)]
    }
}

/// A function that runs when a user is deleted: by the user, or by an administrator.
///
///     OnUserDeleted("forget", retry: true) { event in
///         try await database.reference("profiles/\(event.data.uid)").removeValue()
///     }
public struct OnUserDeleted: FunctionsContent {
    /// The one function.
    public let definitions: [FunctionDefinition]

    /// - Parameters:
    ///   - name: the function's name.
    ///   - users: the users that count. Default: all.
    ///   - retry: whether a failed event is tried again, with growing delays, for a day. Default: false.
    ///   - options: how the function runs.
    ///   - handler: the function.
    public init(
        _ name: String, users: UserScope = .all, retry: Bool = false, options: Options = Options(),
        _ handler: @escaping @Sendable (AuthEvent) async throws -> Void
    ) {
        definitions = [FunctionDefinition(name, options, AuthTrigger(kind: .deleted, scope: users, retry: retry), handler)]
    }
}

extension FunctionDefinition {
    /// A function that runs when users are created or deleted.
    fileprivate init(
        _ name: String, _ options: Options, _ trigger: AuthTrigger, _ handler: @escaping @Sendable (AuthEvent) async throws -> Void
    ) {
        let whole = EventHandler { invocation in try await handler(try AuthEvent(invocation)) }
        self.init(path: [name], options: options, trigger: .user(trigger), handler: whole)
    }
}
