/// The reason why a host does not start: a sentence that says what to do.
public struct HostStartError: Error, Sendable, CustomStringConvertible {
    /// The sentence, for the terminal and the log.
    public let description: String

    package init(_ description: String) { self.description = description }
}
