/// The texts of the page that the links of mails lead to, in one language. Places are those of ``NoticeTemplate``, and `%COUNT%`.
public struct PageTexts: Sendable {
    /// The parts of the page for one kind of link.
    public struct Step: Sendable {
        public var title: String
        /// Says what the button does.
        public var question: String
        public var button: String
        public var done: String
    }

    /// The tag of the language.
    public var language: String
    var steps: [Notice.Kind: Step]
    public var newPassword: String
    public var next: String
    public var invalidLink: String
    public var tryLater: String
    public var tooManyAttempts: String
    public var emailIsTaken: String
    public var passwordNeeds: String
    public var passwordTooWeak: String
    public var lengthMin: String
    public var lengthMax: String
    public var lowercase: String
    public var uppercase: String
    public var digit: String
    public var symbol: String

    /// The texts for the first language that there are texts for; otherwise English.
    ///
    /// - Parameter accepted: the value of `Accept-Language`, or one tag.
    public static func of(_ accepted: String?) -> PageTexts {
        all[LanguageChoice.first(of: accepted, in: Set(all.keys), otherwise: english.language)] ?? english
    }

    /// The texts for one kind of link; those for verifying an e-mail if there are none.
    public func step(_ kind: Notice.Kind) -> Step {
        steps[kind] ?? Step(title: "", question: "", button: next, done: "")
    }

    /// Replaces the places of a text. A value that looks like a place stays as it is.
    public static func filled(_ text: String, _ values: [String: String]) -> String { NoticeTemplate.filled(text, values) }
}
