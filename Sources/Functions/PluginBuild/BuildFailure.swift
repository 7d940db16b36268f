import Glibc
import Synchronization

/// Why there is no library, in a sentence that says what to do, beside what the compiler wrote.
public struct BuildFailure: Error, Sendable, CustomStringConvertible {
    /// What a caller can act on.
    public enum Reason: Sendable, Equatable {
        /// There is no Swift of the version that is needed.
        case noToolchain
        /// There is no package, no such product in it, or the product is not a dynamic library.
        case package
        /// The compiler or linker refused: ``BuildFailure/diagnostics`` says why.
        case compile
        /// The package manager failed otherwise, for example while it fetched dependencies.
        case packageManager
        /// ``BuildCancellation/cancel()`` was called.
        case cancelled
        /// The system has no process, descriptor or memory left.
        case system
    }

    /// What a caller can act on.
    public let reason: Reason
    /// The sentence.
    public let description: String
    /// What the compiler and the package manager wrote, exactly, without lines of progress; empty where they wrote nothing.
    public let diagnostics: String

    init(_ reason: Reason, _ description: String, diagnostics: String = "") {
        self.reason = reason
        self.description = description
        self.diagnostics = diagnostics
    }
}

/// Where a build is.
public struct BuildProgress: Sendable, Equatable {
    /// The product that is being built.
    public let product: String
    /// Steps done so far; 0 of 0 while the package manager plans or fetches.
    public let step: Int
    /// Steps known of so far, which may grow.
    public let steps: Int
    /// What is being done, as the package manager says it, for example `Compiling Messages Sanitize.swift`.
    public let text: String

    /// Where the build of `product` is.
    public init(product: String, step: Int, steps: Int, text: String) {
        self.product = product
        self.step = step
        self.steps = steps
        self.text = text
    }
}

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
