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
