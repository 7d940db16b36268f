/// Carries a value that belongs to a loop through code on other threads, back to the loop.
public final class LoopBound<Value>: @unchecked Sendable {
    // Unchecked: `value` stops the program on any thread other than the loop's.
    private let content: Value
    private let loop: EventLoop

    /// Callable on any thread. The caller must not use `value` elsewhere than on the loop.
    public init(_ value: Value, loop: EventLoop) {
        content = value
        self.loop = loop
    }

    /// The value. On the loop's thread only.
    public var value: Value {
        loop.preconditionCurrent()
        return content
    }
}
