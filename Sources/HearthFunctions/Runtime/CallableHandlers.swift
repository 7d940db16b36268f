internal import Bytes
internal import JSON

/// A callable that waits for nothing: decoded, run and answered within the host's call, without a task.
final class SynchronousCallableHandler<
    Input: Decodable & SendableMetatype, Output: Encodable & SendableMetatype
>: FunctionHandler, @unchecked Sendable {
    private let policy: (@Sendable (AuthData?) -> Bool)?
    private let body: @Sendable (CallableRequest<Input>) throws -> Output

    init(_ policy: AuthPolicy?, _ body: @escaping @Sendable (CallableRequest<Input>) throws -> Output) {
        if case .caller(let check) = policy?.rule { self.policy = check } else { self.policy = nil }
        self.body = body
    }

    override func start(_ invocation: Invocation) {
        do {
            if let policy, !policy(invocation.context.auth) { throw HttpsError.refusedByPolicy }
            let data = try invocation.data(as: Input.self)
            invocation.answer(try body(CallableRequest(data: data, invocation: invocation)))
        } catch {
            invocation.fail(error)
        }
    }
}

/// A callable that may wait. Its task starts at once, within the host's call, and goes to the loop's queue only when it
/// waits for something.
final class CallableHandler<
    Input: Decodable & SendableMetatype, Output: Encodable & SendableMetatype
>: FunctionHandler, @unchecked Sendable {
    private let policy: AuthPolicy?
    private let body: @Sendable (CallableRequest<Input>, CallableResponse) async throws -> Output

    init(
        _ policy: AuthPolicy?, _ body: @escaping @Sendable (CallableRequest<Input>, CallableResponse) async throws -> Output
    ) {
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
            let data = try invocation.data(as: Input.self)
            let output = try await body(CallableRequest(data: data, invocation: invocation), CallableResponse(invocation))
            invocation.answer(output)
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
}

extension Invocation {
    /// The call's data as the type that the function asks for.
    fileprivate func data<T: Decodable>(as type: T.Type) throws -> T {
        do {
            return try withPayload { try JSONDecoder().decode(type, from: $0) }
        } catch {
            throw HttpsError(.invalidArgument, shapeProblem(error, root: "data"))
        }
    }
}
