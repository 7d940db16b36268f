/// A plain HTTP function: any method, any path below its name, any body.
///
///     OnRequest("status") { request in Response(json: ["ok": true]) }
///
/// With a second parameter the function writes its answer piece by piece, as fast as the client reads:
///
///     OnRequest("count") { request, response in
///         response.start(headers: ["content-type": "text/plain"])
///         for number in 1...10 { await response.write("\(number)\n") }
///     }
public struct OnRequest: FunctionsContent {
    /// The one function.
    public let definitions: [FunctionDefinition]

    private init(_ name: String, _ options: Options, _ handler: FunctionHandler, problems: [String] = []) {
        definitions = [FunctionDefinition(path: [name], options: options, trigger: .http, problemsOfContent: problems, handler: handler)]
    }

    /// A synchronous function. The fastest kind: no task is created for a request.
    public init(_ name: String, options: Options = Options(), _ handler: @escaping @Sendable (Request) throws -> Response) {
        self.init(name, options, SynchronousRequestHandler(handler))
    }

    /// An asynchronous function.
    public init(_ name: String, options: Options = Options(), _ handler: @escaping @Sendable (Request) async throws -> Response) {
        self.init(name, options, RequestHandler { request, _ in try await handler(request) })
    }

    /// An asynchronous function whose content may be invalid.
    init(
        _ name: String, options: Options, routeProblems: [String], _ handler: @escaping @Sendable (Request) async throws -> Response
    ) {
        self.init(name, options, RequestHandler { request, _ in try await handler(request) }, problems: routeProblems)
    }

    /// A function that writes its answer piece by piece. The answer ends when the function returns.
    public init(
        _ name: String, options: Options = Options(), _ handler: @escaping @Sendable (Request, ResponseWriter) async throws -> Void
    ) {
        let whole = RequestHandler { request, response in
            try await handler(request, response)
            return nil
        }
        self.init(name, options, whole)
    }
}

/// Runs a synchronous HTTP function.
private final class SynchronousRequestHandler: FunctionHandler, @unchecked Sendable {
    // Immutable and Sendable.
    private let body: @Sendable (Request) throws -> Response

    init(_ body: @escaping @Sendable (Request) throws -> Response) { self.body = body }

    override func start(_ invocation: Invocation) {
        do {
            invocation.answer(with: try body(Request(invocation)))
        } catch {
            invocation.fail(error)
        }
    }
}

/// Runs an asynchronous HTTP function. Its closure returns the answer, or nil when it has written the answer piece by piece.
private final class RequestHandler: FunctionHandler, @unchecked Sendable {
    // Immutable and Sendable.
    private let body: @Sendable (Request, ResponseWriter) async throws -> Response?

    init(_ body: @escaping @Sendable (Request, ResponseWriter) async throws -> Response?) { self.body = body }

    override func start(_ invocation: Invocation) {
        let request = Request(invocation)
        let task = Task.immediate(executorPreference: invocation) { await self.run(request, invocation) }
        if !invocation.isAnswered { invocation.task = task }
    }

    private func run(_ request: Request, _ invocation: Invocation) async {
        do {
            if let response = try await body(request, ResponseWriter(invocation)) {
                invocation.answer(with: response)
            } else {
                invocation.endResponse()
            }
        } catch {
            invocation.fail(error)
        }
    }
}
