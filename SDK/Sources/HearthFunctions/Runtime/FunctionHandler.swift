/// What runs when a function is called. There is one for each function, for as long as the plugin is loaded.
@usableFromInline
// Subclasses hold immutable, Sendable parts only.
class FunctionHandler: @unchecked Sendable {
    /// Begins a call. Whoever overrides it answers the invocation once, now or later.
    func start(_ invocation: Invocation) {
        preconditionFailure("a handler overrides start")
    }
}
