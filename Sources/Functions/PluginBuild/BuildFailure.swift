import Glibc
import Synchronization

/// The reason why a build failed, with the output of the compiler.
public struct BuildFailure: Error, Sendable, CustomStringConvertible {
    /// The kinds of failures that callers distinguish.
    public enum Reason: Sendable, Equatable {
        /// No Swift toolchain of the required version is installed.
        case noToolchain
        /// There is no package or no such product, or the product is not a dynamic library.
        case package
        /// The compiler or linker failed: see ``BuildFailure/diagnostics``.
        case compile
        /// The package manager failed otherwise, for example while fetching dependencies.
        case packageManager
        /// ``BuildCancellation/cancel()`` was called.
        case cancelled
        /// The system has no process, descriptor or memory left.
        case system
    }

    /// The kind of the failure.
    public let reason: Reason
    /// One sentence with the remedy.
    public let description: String
    /// The output of the compiler and the package manager, verbatim without progress lines; empty if there was none.
    public let diagnostics: String

    init(_ reason: Reason, _ description: String, diagnostics: String = "") {
        self.reason = reason
        self.description = description
        self.diagnostics = diagnostics
    }
}

/// The progress of a build.
public struct BuildProgress: Sendable, Equatable {
    /// The product under construction.
    public let product: String
    /// Finished steps; 0 of 0 while the package manager plans or fetches.
    public let step: Int
    /// Steps known so far; may grow.
    public let steps: Int
    /// The current step in the package manager's words, for example `Compiling Messages Sanitize.swift`.
    public let text: String

    /// The progress of the build of `product`.
    public init(product: String, step: Int, steps: Int, text: String) {
        self.product = product
        self.step = step
        self.steps = steps
        self.text = text
    }
}

/// Cancels a build from another thread.
public final class BuildCancellation: Sendable {
    private struct State {
        var isCancelled = false
        /// Closing it ends the running program.
        var control: Int32?
    }

    private let state = Mutex(State())

    /// For one or several builds. Cancelling is permanent.
    public init() {}

    /// Whether ``cancel()`` was called.
    public var isCancelled: Bool { state.withLock(\.isCancelled) }

    /// Ends the compilers at once; the build throws ``BuildFailure/Reason/cancelled`` when they have exited. Callable at any time.
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
