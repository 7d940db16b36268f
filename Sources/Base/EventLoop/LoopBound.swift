import Synchronization

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

/// Something on its way to another loop, which has it alone once it has taken it.
///
/// A closure that is posted is held by the thread that posts it, too, until that goes on: a loop that goes before others may wake, work and
/// answer before. What the closure holds would then end, late, on a thread that it does not belong to.
public final class Parcel<Content: Sendable>: Sendable {
    private let content: Mutex<Content?>

    /// Packs it; the sender keeps nothing of it.
    public init(_ content: consuming Content) { self.content = Mutex(content) }

    /// Unpacks it; nil where that was done before.
    public func take() -> Content? {
        content.withLock { content in
            let taken = content
            content = nil
            return taken
        }
    }
}
