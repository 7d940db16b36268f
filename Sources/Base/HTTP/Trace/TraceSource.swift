/// Begins traces, and goes on with those of requests. Its numbers come from a generator of its own (xoshiro256**), seeded by the
/// system: they need not be secret, but a call must not cost a system call. Belongs to one loop.
public struct TraceSource: Sendable {
    private var state: (UInt64, UInt64, UInt64, UInt64)

    /// A source that shares nothing with any other.
    public init() {
        var system = SystemRandomNumberGenerator()
        // The generator stands still on four zeros.
        state = (system.next(), system.next(), system.next(), system.next() | 1)
    }

    private mutating func next() -> UInt64 {
        let product = state.1 &* 5
        let result = (product << 7 | product >> 57) &* 9
        let shifted = state.1 << 17
        state.2 ^= state.0
        state.3 ^= state.1
        state.1 ^= state.2
        state.0 ^= state.3
        state.2 ^= shifted
        state.3 = state.3 << 45 | state.3 >> 19
        return result
    }

    /// A new span, never zero.
    public mutating func nextSpan() -> UInt64 { max(1, next()) }

    /// The beginning of a new trace. Nobody has asked for it to be recorded.
    public mutating func begin() -> TraceContext {
        TraceContext(id: TraceID(nonzero: next(), max(1, next())), span: nextSpan(), isSampled: false)
    }

    /// A piece of work for whoever has this context; the beginning of a trace where nobody has one.
    public mutating func next(after context: TraceContext?) -> TraceContext {
        guard let context else { return begin() }
        return context.child(nextSpan())
    }

    /// What is done for a request: a part of the trace that its `traceparent` names, where it has one that is valid, with its
    /// `tracestate` where that is valid too.
    public mutating func next(for exchange: HTTPExchange) -> TraceContext {
        guard let parent = exchange.header("traceparent"), var context = TraceContext(parsing: parent) else { return begin() }
        // Two of them name no parent.
        guard exchange.count(ofHeader: "traceparent") == 1 else { return begin() }
        context.state = TraceState.accepted(exchange)
        return context.child(nextSpan())
    }
}
