/// A callable that waits for nothing: decoded, run and answered within the host's call, without a task.
///
/// The closure is compiled in the plugin's own module by `OnCall`, where the types of data and result are known.
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
            if let policy, !policy(invocation.context.callerAuth) { throw HttpsError.refusedByPolicy }
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
    /// The answer to a call that the function's `authPolicy` refuses.
    fileprivate static let refusedByPolicy = HttpsError(.permissionDenied, "Permission Denied")
}

extension AuthPolicy {
    fileprivate func allows(_ invocation: Invocation) async throws -> Bool {
        switch rule {
        case .caller(let check): check(invocation.context.callerAuth)
        case .callerAndData(let check): try await check(invocation.context.callerAuth, invocation.data(as: JSONValue.self))
        }
    }

    /// Whether the answer may take a while, or needs the call's data.
    @usableFromInline var needsTask: Bool {
        if case .callerAndData = rule { true } else { false }
    }
}

/// Decides who may call a function, before the function runs. A refusal is `permission-denied`, "Permission Denied".
///
///     OnCall("fortyTwo", authPolicy: isSignedIn()) { ... }
///     OnCall("purge", authPolicy: hasClaim("admin")) { ... }
///     OnCall("own", authPolicy: AuthPolicy { auth, data in auth?.uid == data["owner"]?.string }) { ... }
public struct AuthPolicy: Sendable {
    typealias Check = @Sendable (AuthData?, JSONValue) async throws -> Bool

    enum Rule: Sendable {
        /// Needs the caller only, so that the data need not be kept.
        case caller(@Sendable (AuthData?) -> Bool)
        case callerAndData(Check)
    }

    let rule: Rule

    /// Allows calls for which `isAllowed` returns true. It gets the caller and the data.
    public init(_ isAllowed: @escaping @Sendable (AuthData?, JSONValue) async throws -> Bool) {
        self.rule = .callerAndData(isAllowed)
    }

    init(caller: @escaping @Sendable (AuthData?) -> Bool) { self.rule = .caller(caller) }
}

/// Allows every signed-in user.
public func isSignedIn() -> AuthPolicy { AuthPolicy(caller: { $0 != nil }) }

/// Allows users whose ID token has the claim `name`: with `value`, or with any value if that is nil.
public func hasClaim(_ name: String, _ value: String? = nil) -> AuthPolicy {
    AuthPolicy(caller: { auth in
        guard let claim = auth?.token[name] else { return false }
        guard let value else { return true }
        return claim.string == value
    })
}
