/// The reason why a pattern is invalid: a sentence.
public struct PathPatternError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The sentence.
    public var message: String

    /// - Parameter message: one sentence.
    public init(_ message: String) { self.message = message }

    public var description: String { message }
}
