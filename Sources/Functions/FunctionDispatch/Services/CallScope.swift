import EventLoop
import Synchronization

/// The time for which an invocation uses the answers to its service calls: until it is answered or stopped, or its worker has ended.
///
/// A service whose answer waits for something ends the wait with the scope. Can be used on every thread.
package final class CallScope: Sendable {
    /// The registration of a handler.
    package struct Token: Sendable {
        fileprivate let number: UInt64
    }

    private struct State {
        var isOver = false
        var lastNumber: UInt64 = 0
        var handlers: [UInt64: @Sendable () -> Void] = [:]
    }

    private let state = Mutex(State())

    /// A scope that has not ended.
    package init() {}

    /// The scope of invocations that have ended.
    static let over: CallScope = {
        let scope = CallScope()
        scope.end()
        return scope
    }()

    /// Calls `handler` on `loop` when the scope ends; soon if it has ended.
    package func whenOver(on loop: EventLoop, _ handler: @escaping () -> Void) -> Token {
        let handler = LoopBound(handler, loop: loop)
        let (number, isOver) = state.withLock { state in
            state.lastNumber += 1
            if !state.isOver { state.handlers[state.lastNumber] = { loop.post { handler.value() } } }
            return (state.lastNumber, state.isOver)
        }
        if isOver { loop.post { handler.value() } }
        return Token(number: number)
    }

    /// Removes a handler. It may still be called if the scope has just ended.
    package func forget(_ token: Token) {
        _ = state.withLock { $0.handlers.removeValue(forKey: token.number) }
    }

    /// Ends the scope.
    package func end() {
        let handlers = state.withLock { state in
            state.isOver = true
            defer { state.handlers = [:] }
            return state.handlers
        }
        for handler in handlers.values { handler() }
    }
}
