/// What a host that watches tells whoever sits before it.
public struct WatchReport: Sendable {
    /// How good the news is.
    public enum Kind: Sendable, Equatable {
        /// Something is under way: shown while it is, and only where lines can be replaced.
        case progress
        /// New versions serve, or settings are in force.
        case success
        /// Nothing changed that serves; the sentence says why.
        case failure
        /// Worth knowing, and nothing failed.
        case notice
    }

    /// How the sentence is shown.
    public let kind: Kind
    /// One sentence.
    public let sentence: String
    /// What the compiler wrote, exactly; empty where it has no part in it.
    public let diagnostics: String

    init(_ kind: Kind, _ sentence: String, diagnostics: String = "") {
        self.kind = kind
        self.sentence = sentence
        self.diagnostics = diagnostics
    }
}
