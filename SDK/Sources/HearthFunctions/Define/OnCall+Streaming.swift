// Callables that send values while they work.
extension OnCall {
    /// A function that can send values before it returns its result.
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
        _ handler: @escaping @Sendable (CallableRequest<Input>, CallableResponse) async throws -> Output
    ) {
        let options = Options(
            region: region, memory: memory, timeoutSeconds: timeoutSeconds, cpu: cpu, concurrency: concurrency,
            minInstances: minInstances, maxInstances: maxInstances, secrets: secrets, labels: labels,
            ingressSettings: ingressSettings, serviceAccount: serviceAccount, vpc: vpc, enforceAppCheck: enforceAppCheck,
            consumeAppCheckToken: consumeAppCheckToken, cors: cors, heartbeatSeconds: heartbeatSeconds,
            heartbeatStyle: heartbeatStyle, omit: omit)
        let whole = CallableHandler(authPolicy) { call in
            let request = try CallableRequest<Input>(data: call.data(), call: call)
            call.answer(try await handler(request, CallableResponse(call)))
        }
        self.init(name, options, generation, whole)
    }

    /// A function that can send values and returns nothing.
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
        _ handler: @escaping @Sendable (CallableRequest<Input>, CallableResponse) async throws -> Void
    ) {
        let options = Options(
            region: region, memory: memory, timeoutSeconds: timeoutSeconds, cpu: cpu, concurrency: concurrency,
            minInstances: minInstances, maxInstances: maxInstances, secrets: secrets, labels: labels,
            ingressSettings: ingressSettings, serviceAccount: serviceAccount, vpc: vpc, enforceAppCheck: enforceAppCheck,
            consumeAppCheckToken: consumeAppCheckToken, cors: cors, heartbeatSeconds: heartbeatSeconds,
            heartbeatStyle: heartbeatStyle, omit: omit)
        let whole = CallableHandler(authPolicy) { call in
            let request = try CallableRequest<Input>(data: call.data(), call: call)
            try await handler(request, CallableResponse(call))
            call.answerNothing()
        }
        self.init(name, options, generation, whole)
    }
}
