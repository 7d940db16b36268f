/// A function that runs because of an event: nobody waits for what it returns, but the host wants to know whether it failed.
final class EventHandler: FunctionHandler, @unchecked Sendable {
    // Immutable and Sendable.
    private let body: @Sendable (Invocation) async throws -> Void

    init(_ body: @escaping @Sendable (Invocation) async throws -> Void) { self.body = body }

    override func start(_ invocation: Invocation) {
        let task = Task.immediate(executorPreference: invocation) { await self.run(invocation) }
        if !invocation.isAnswered { invocation.task = task }
    }

    private func run(_ invocation: Invocation) async {
        do {
            try await body(invocation)
            invocation.answerNothing()
        } catch {
            invocation.failEvent(error)
        }
    }
}
