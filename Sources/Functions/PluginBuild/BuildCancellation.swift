import Glibc
import Synchronization

/// Stops a build from another thread.
public final class BuildCancellation: Sendable {
    private struct State {
        var isCancelled = false
        /// Closing it ends the program that runs.
        var control: Int32?
    }

    private let state = Mutex(State())

    /// For one build or several; once cancelled it stays so.
    public init() {}

    /// Whether ``cancel()`` was called.
    public var isCancelled: Bool { state.withLock(\.isCancelled) }

    /// Ends the compilers at once; the build throws ``BuildFailure/Reason/cancelled`` when they are gone. May be called at any time.
    public func cancel() {
        state.withLock { state in
            state.isCancelled = true
            Self.closeControl(&state)
        }
    }

    func adopt(_ control: Int32) {
        state.withLock { state in
            state.control = control
            if state.isCancelled { Self.closeControl(&state) }
        }
    }

    func release() {
        state.withLock { Self.closeControl(&$0) }
    }

    private static func closeControl(_ state: inout State) {
        if let control = state.control { close(control) }
        state.control = nil
    }
}
