/// A callable function: the Firebase client SDKs call it by name with a value and get a value back.
///
///     struct Numbers: Decodable { var first: Double, second: Double }
///
///     OnCall("add") { (request: CallableRequest<Numbers>) in request.data.first + request.data.second }
///
/// The type after `CallableRequest` says what the data must look like: any `Decodable`, or `JSONValue` for whatever comes.
/// Data of another shape is answered `invalid-argument` before the function runs. What it returns is any `Encodable`, or
/// nothing. It fails by throwing `HttpsError`; any other error reaches the client as `INTERNAL`, and the log as it is.
///
/// With a second parameter it can send values while it works:
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

extension OnCall {
    /// A function that answers without waiting for anything: the shortest way through.
    @inlinable
    public init<Input: Decodable & SendableMetatype, Output: Encodable & SendableMetatype>(
        _ name: String,
        region: [String]? = nil,
        memory: Memory? = nil,
        timeoutSeconds: Int? = nil,
        cpu: Double? = nil,
        concurrency: Int? = nil,
        minInstances: Int? = nil,
        maxInstances: Int? = nil,
        secrets: [SecretParam]? = nil,
        labels: [String: String]? = nil,
        ingressSettings: IngressSettings? = nil,
        serviceAccount: String? = nil,
        vpc: VPC? = nil,
        enforceAppCheck: Bool? = nil,
        consumeAppCheckToken: Bool? = nil,
        cors: CORS? = nil,
        heartbeatSeconds: Heartbeat? = nil,
        heartbeatStyle: HeartbeatStyle? = nil,
        authPolicy: AuthPolicy? = nil,
        generation: Generation = .second,
        omit: Bool? = nil,
        _ handler: @escaping @Sendable (CallableRequest<Input>) throws -> Output
    ) {
        let options = Options(
            region: region, memory: memory, timeoutSeconds: timeoutSeconds, cpu: cpu, concurrency: concurrency,
            minInstances: minInstances, maxInstances: maxInstances, secrets: secrets, labels: labels,
            ingressSettings: ingressSettings, serviceAccount: serviceAccount, vpc: vpc, enforceAppCheck: enforceAppCheck,
            consumeAppCheckToken: consumeAppCheckToken, cors: cors, heartbeatSeconds: heartbeatSeconds,
            heartbeatStyle: heartbeatStyle, omit: omit)
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

    /// A function that may wait.
    @inlinable
    public init<Input: Decodable & SendableMetatype, Output: Encodable & SendableMetatype>(
        _ name: String,
        region: [String]? = nil,
        memory: Memory? = nil,
        timeoutSeconds: Int? = nil,
        cpu: Double? = nil,
        concurrency: Int? = nil,
        minInstances: Int? = nil,
        maxInstances: Int? = nil,
        secrets: [SecretParam]? = nil,
        labels: [String: String]? = nil,
        ingressSettings: IngressSettings? = nil,
        serviceAccount: String? = nil,
        vpc: VPC? = nil,
        enforceAppCheck: Bool? = nil,
        consumeAppCheckToken: Bool? = nil,
        cors: CORS? = nil,
        heartbeatSeconds: Heartbeat? = nil,
        heartbeatStyle: HeartbeatStyle? = nil,
        authPolicy: AuthPolicy? = nil,
        generation: Generation = .second,
        omit: Bool? = nil,
        _ handler: @escaping @Sendable (CallableRequest<Input>) async throws -> Output
    ) {
        let options = Options(
            region: region, memory: memory, timeoutSeconds: timeoutSeconds, cpu: cpu, concurrency: concurrency,
            minInstances: minInstances, maxInstances: maxInstances, secrets: secrets, labels: labels,
            ingressSettings: ingressSettings, serviceAccount: serviceAccount, vpc: vpc, enforceAppCheck: enforceAppCheck,
            consumeAppCheckToken: consumeAppCheckToken, cors: cors, heartbeatSeconds: heartbeatSeconds,
            heartbeatStyle: heartbeatStyle, omit: omit)
        let whole = CallableHandler(authPolicy) { call in
            call.answer(try await handler(CallableRequest(data: call.data(), call: call)))
        }
        self.init(name, options, generation, whole)
    }

    /// A function that returns nothing; the client gets null.
    @inlinable
    public init<Input: Decodable & SendableMetatype>(
        _ name: String,
        region: [String]? = nil,
        memory: Memory? = nil,
        timeoutSeconds: Int? = nil,
        cpu: Double? = nil,
        concurrency: Int? = nil,
        minInstances: Int? = nil,
        maxInstances: Int? = nil,
        secrets: [SecretParam]? = nil,
        labels: [String: String]? = nil,
        ingressSettings: IngressSettings? = nil,
        serviceAccount: String? = nil,
        vpc: VPC? = nil,
        enforceAppCheck: Bool? = nil,
        consumeAppCheckToken: Bool? = nil,
        cors: CORS? = nil,
        heartbeatSeconds: Heartbeat? = nil,
        heartbeatStyle: HeartbeatStyle? = nil,
        authPolicy: AuthPolicy? = nil,
        generation: Generation = .second,
        omit: Bool? = nil,
        _ handler: @escaping @Sendable (CallableRequest<Input>) async throws -> Void
    ) {
        let options = Options(
            region: region, memory: memory, timeoutSeconds: timeoutSeconds, cpu: cpu, concurrency: concurrency,
            minInstances: minInstances, maxInstances: maxInstances, secrets: secrets, labels: labels,
            ingressSettings: ingressSettings, serviceAccount: serviceAccount, vpc: vpc, enforceAppCheck: enforceAppCheck,
            consumeAppCheckToken: consumeAppCheckToken, cors: cors, heartbeatSeconds: heartbeatSeconds,
            heartbeatStyle: heartbeatStyle, omit: omit)
        let whole = CallableHandler(authPolicy) { call in
            try await handler(CallableRequest(data: call.data(), call: call))
            call.answerNothing()
        }
        self.init(name, options, generation, whole)
    }
}
