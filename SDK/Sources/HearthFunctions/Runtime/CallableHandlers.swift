/// A callable that waits for nothing: decoded, run and answered within the host's call, without a task.
///
/// What runs is a closure that `OnCall` makes in the plugin's own module, where the types of data and result are known.
@usableFromInline
// Immutable, Sendable parts only.
final class SynchronousCallableHandler: FunctionHandler, @unchecked Sendable {
    private let policy: (@Sendable (AuthData?) -> Bool)?
    private let body: @Sendable (CallHandle) throws -> Void

    @usableFromInline
    init(_ policy: AuthPolicy?, _ body: @escaping @Sendable (CallHandle) throws -> Void) {
        if case .caller(let check) = policy?.rule { self.policy = check } else { self.policy = nil }
        self.body = body
    }

    override func start(_ invocation: Invocation) {
        do {
            if let policy, !policy(invocation.context.auth) { throw HttpsError.refusedByPolicy }
            try body(CallHandle(invocation: invocation))
        } catch {
            invocation.fail(error)
        }
    }
}

/// A callable that may wait. Its task starts at once, within the host's call, and goes to the loop's queue only when it
/// waits for something.
@usableFromInline
// Immutable, Sendable parts only.
final class CallableHandler: FunctionHandler, @unchecked Sendable {
    private let policy: AuthPolicy?
    private let body: @Sendable (CallHandle) async throws -> Void

    @usableFromInline
    init(_ policy: AuthPolicy?, _ body: @escaping @Sendable (CallHandle) async throws -> Void) {
        self.policy = policy
        self.body = body
    }

    override func start(_ invocation: Invocation) {
        if case .callerAndData = policy?.rule { invocation.keepPayload() }
        let task = Task.immediate(executorPreference: invocation) { await self.run(invocation) }
        if !invocation.isAnswered { invocation.task = task }
    }

    private func run(_ invocation: Invocation) async {
        do {
            if let policy, try await !policy.allows(invocation) { throw HttpsError.refusedByPolicy }
            try await body(CallHandle(invocation: invocation))
        } catch {
            invocation.fail(error)
        }
    }
}

extension HttpsError {
    /// What a call gets that its function's `authPolicy` turns away.
    fileprivate static let refusedByPolicy = HttpsError(.permissionDenied, "Permission Denied")
}

extension AuthPolicy {
    fileprivate func allows(_ invocation: Invocation) async throws -> Bool {
        switch rule {
        case .caller(let check): check(invocation.context.auth)
        case .callerAndData(let check): try await check(invocation.context.auth, invocation.data(as: JSONValue.self))
        }
    }

    /// Whether the answer may take a while, or needs the call's data.
    @usableFromInline var needsTask: Bool {
        if case .callerAndData = rule { true } else { false }
    }
}
