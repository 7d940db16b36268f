/// Why a host does not start, in a sentence that says what to do.
public struct HostStartError: Error, Sendable, CustomStringConvertible {
    /// For the terminal and the log.
    public let description: String

    package init(_ description: String) { self.description = description }
}
