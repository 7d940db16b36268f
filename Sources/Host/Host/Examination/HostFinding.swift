/// The result of one check of `hearth doctor`.
public struct HostFinding: Sendable {
    /// How bad it is.
    public enum Severity: String, Sendable {
        case ok
        /// The host runs, but not as well or as safely as it could.
        case warning
        /// The host does not start, or something that was configured does not work.
        case error
    }

    /// The subject, in one or two words.
    public let check: String
    public let severity: Severity
    /// A sentence; for a warning or an error it says what to do.
    public let message: String

    /// A finding.
    public init(_ check: String, _ severity: Severity, _ message: String) {
        self.check = check
        self.severity = severity
        self.message = message
    }
}
