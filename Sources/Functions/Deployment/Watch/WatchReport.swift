/// A report of a watching host to the person at its terminal.
public struct WatchReport: Sendable {
    /// The kind of news.
    public enum Kind: Sendable, Equatable {
        /// An ongoing operation. Shown only while it lasts, and only on terminals that can replace lines.
        case progress
        /// New versions serve, or settings are in force.
        case success
        /// The served versions did not change. The sentence has the reason.
        case failure
        /// Other useful information. Nothing failed.
        case notice
    }

    /// The kind, which determines the presentation.
    public let kind: Kind
    /// One sentence.
    public let sentence: String
    /// The exact output of the compiler; empty if it has no part in it.
    public let diagnostics: String

    init(_ kind: Kind, _ sentence: String, diagnostics: String = "") {
        self.kind = kind
        self.sentence = sentence
        self.diagnostics = diagnostics
    }
}
