/// A plain HTTP function: any method, any path below its name, any body.
///
///     OnRequest("status") { request in Response(json: ["ok": true]) }
///
/// With a second parameter the answer is written piece by piece, as fast as the client reads:
///
///     OnRequest("count") { request, response in
///         response.start(headers: ["content-type": "text/plain"])
///         for number in 1...10 { await response.write("\(number)\n") }
///     }
public struct OnRequest: FunctionsContent {
    /// The one function.
    public let definitions: [FunctionDefinition]

    private init(_ name: String, _ options: Options, _ handler: FunctionHandler) {
        definitions = [FunctionDefinition(path: [name], options: options, trigger: .http, handler: handler)]
    }
}

extension OnRequest {
    /// A function that answers without waiting for anything.
    public init(
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
        invoker: Invoker? = nil,
        serviceAccount: String? = nil,
        vpc: VPC? = nil,
        cors: CORS? = nil,
        omit: Bool? = nil,
        _ handler: @escaping @Sendable (Request) throws -> Response
    ) {
        let options = Options(
            region: region, memory: memory, timeoutSeconds: timeoutSeconds, cpu: cpu, concurrency: concurrency,
            minInstances: minInstances, maxInstances: maxInstances, secrets: secrets, labels: labels,
            ingressSettings: ingressSettings, invoker: invoker, serviceAccount: serviceAccount, vpc: vpc, cors: cors, omit: omit)
        self.init(name, options, SynchronousRequestHandler(handler))
    }

    /// A function that may wait.
    public init(
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
        invoker: Invoker? = nil,
        serviceAccount: String? = nil,
        vpc: VPC? = nil,
        cors: CORS? = nil,
        omit: Bool? = nil,
        _ handler: @escaping @Sendable (Request) async throws -> Response
    ) {
        let options = Options(
            region: region, memory: memory, timeoutSeconds: timeoutSeconds, cpu: cpu, concurrency: concurrency,
            minInstances: minInstances, maxInstances: maxInstances, secrets: secrets, labels: labels,
            ingressSettings: ingressSettings, invoker: invoker, serviceAccount: serviceAccount, vpc: vpc, cors: cors, omit: omit)
        self.init(name, options, RequestHandler { request, _ in try await handler(request) })
    }

    /// A function that writes its answer piece by piece; the answer ends when it returns.
    public init(
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
        invoker: Invoker? = nil,
        serviceAccount: String? = nil,
        vpc: VPC? = nil,
        cors: CORS? = nil,
        omit: Bool? = nil,
        _ handler: @escaping @Sendable (Request, ResponseWriter) async throws -> Void
    ) {
        let options = Options(
            region: region, memory: memory, timeoutSeconds: timeoutSeconds, cpu: cpu, concurrency: concurrency,
            minInstances: minInstances, maxInstances: maxInstances, secrets: secrets, labels: labels,
            ingressSettings: ingressSettings, invoker: invoker, serviceAccount: serviceAccount, vpc: vpc, cors: cors, omit: omit)
        self.init(
            name, options,
            RequestHandler { request, response in
                try await handler(request, response)
                return nil
            })
    }
}
