/// A callable function: the Firebase client SDKs call it by name with a value and get a value back.
///
///     struct Numbers: Decodable { var first: Double, second: Double }
///
///     OnCall("add") { (request: CallableRequest<Numbers>) in request.data.first + request.data.second }
///
/// The type after `CallableRequest` is the shape of the data: any `Decodable`, or `JSONValue` for data of any shape. Data of
/// another shape is answered `invalid-argument` before the function runs. The result is any `Encodable`, or nothing. A function
/// fails by throwing `HttpsError`. Any other error is logged, and the client gets `INTERNAL`.
///
/// With a second parameter the function can send values while it works:
///
///     OnCall("countdown") { (request: CallableRequest<Int>, response) in
///         for number in stride(from: request.data, to: 0, by: -1) { try await response.sendChunk(number) }
///         return "liftoff"
///     }
public struct OnCall: FunctionsContent {
    /// The one function.
    public let definitions: [FunctionDefinition]

    @usableFromInline
    init(_ name: String, _ options: Options, _ generation: Generation, _ handler: FunctionHandler) {
        definitions = [
            FunctionDefinition(
                path: [name], options: options, trigger: .callable, generation: generation, handler: handler)
        ]
    }
}

// `authPolicy` decides who may call. `generation` is the generation of Cloud Functions whose behaviour clients expect.
extension OnCall {
    /// A synchronous function. The fastest kind: no task is created for a call.
    @inlinable
    public init<Input: Decodable & SendableMetatype, Output: Encodable & SendableMetatype>(
        _ name: String, options: Options = Options(), authPolicy: AuthPolicy? = nil, generation: Generation = .second,
        _ handler: @escaping @Sendable (CallableRequest<Input>) throws -> Output
    ) {
        let body: @Sendable (CallHandle) throws -> Void = { call in
            call.answer(try handler(CallableRequest(data: call.data(), call: call)))
        }
        let whole: FunctionHandler =
            if let authPolicy, authPolicy.needsTask {
                CallableHandler(authPolicy) { call in try body(call) }
            } else {
                SynchronousCallableHandler(authPolicy, body)
            }
        self.init(name, options, generation, whole)
    }

    /// An asynchronous function.
    @inlinable
    public init<Input: Decodable & SendableMetatype, Output: Encodable & SendableMetatype>(
        _ name: String, options: Options = Options(), authPolicy: AuthPolicy? = nil, generation: Generation = .second,
        _ handler: @escaping @Sendable (CallableRequest<Input>) async throws -> Output
    ) {
        let whole = CallableHandler(authPolicy) { call in
            call.answer(try await handler(CallableRequest(data: call.data(), call: call)))
        }
        self.init(name, options, generation, whole)
    }

    /// An asynchronous function without a result. The client gets null.
    @inlinable
    public init<Input: Decodable & SendableMetatype>(
        _ name: String, options: Options = Options(), authPolicy: AuthPolicy? = nil, generation: Generation = .second,
        _ handler: @escaping @Sendable (CallableRequest<Input>) async throws -> Void
    ) {
        let whole = CallableHandler(authPolicy) { call in
            try await handler(CallableRequest(data: call.data(), call: call))
            call.answerNothing()
        }
        self.init(name, options, generation, whole)
    }

    /// A function that can send values before its result.
    @inlinable
    public init<Input: Decodable & SendableMetatype, Output: Encodable & SendableMetatype>(
        _ name: String, options: Options = Options(), authPolicy: AuthPolicy? = nil, generation: Generation = .second,
        _ handler: @escaping @Sendable (CallableRequest<Input>, CallableResponse) async throws -> Output
    ) {
        let whole = CallableHandler(authPolicy) { call in
            let request = try CallableRequest<Input>(data: call.data(), call: call)
            call.answer(try await handler(request, CallableResponse(call)))
        }
        self.init(name, options, generation, whole)
    }

    /// A function that can send values and has no result.
    @inlinable
    public init<Input: Decodable & SendableMetatype>(
        _ name: String, options: Options = Options(), authPolicy: AuthPolicy? = nil, generation: Generation = .second,
        _ handler: @escaping @Sendable (CallableRequest<Input>, CallableResponse) async throws -> Void
    ) {
        let whole = CallableHandler(authPolicy) { call in
            let request = try CallableRequest<Input>(data: call.data(), call: call)
            try await handler(request, CallableResponse(call))
            call.answerNothing()
        }
        self.init(name, options, generation, whole)
    }
}
