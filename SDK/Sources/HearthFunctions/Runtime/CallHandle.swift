/// An invocation as the code that is compiled into a plugin sees it: data in, answer out.
@usableFromInline
struct CallHandle: Sendable {
    let invocation: Invocation

    /// The call's data as the type that the function asks for.
    @usableFromInline
    func data<T: Decodable>(as type: T.Type = T.self) throws -> T { try invocation.data(as: type) }

    /// Answers with the function's result.
    @usableFromInline
    func answer<Output: Encodable>(_ output: Output) { invocation.answer(output) }

    /// Answers for a function that returns nothing: the client gets null.
    @usableFromInline
    func answerNothing() { invocation.answerNothing() }
}
