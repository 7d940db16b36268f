/// A plain HTTP function that waits for nothing.
final class SynchronousRequestHandler: FunctionHandler, @unchecked Sendable {
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

/// A plain HTTP function that may wait. It returns its whole answer, or nil when it has written it piece by piece.
final class RequestHandler: FunctionHandler, @unchecked Sendable {
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
