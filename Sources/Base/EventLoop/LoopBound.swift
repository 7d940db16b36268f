/// Carries something that belongs to a loop through code that runs elsewhere, back to the loop.
public final class LoopBound<Value>: @unchecked Sendable {
    // Unchecked: `value` stops the program anywhere but on the loop's thread.
    private let content: Value
    private let loop: EventLoop

    /// May be made anywhere; whoever makes it must not touch `value` off the loop.
    public init(_ value: Value, loop: EventLoop) {
        content = value
        self.loop = loop
    }

    /// What it carries. On the loop's thread only.
    public var value: Value {
        loop.preconditionCurrent()
        return content
    }
}
