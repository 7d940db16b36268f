/// A mail or a text message to a user.
public struct Notice: Sendable, Equatable {
    /// The kinds; the raw value is the name of the file that replaces the text.
    public enum Kind: String, Sendable, CaseIterable {
        case passwordReset = "password-reset"
        case verifyEmail = "verify-email"
        case signIn = "sign-in"
        case changeEmail = "change-email"
        case recoverEmail = "recover-email"
        case emailRemoved = "email-removed"
        case secondFactorAdded = "second-factor-added"
        case signInAdded = "sign-in-added"
        case textMessage = "text-message"

        /// The place that a text must have: what the recipient needs.
        var place: String {
            switch self {
            case .textMessage: "%CODE%"
            case .signInAdded: "%FACTOR%"
            case .passwordReset, .verifyEmail, .signIn, .changeEmail, .recoverEmail, .emailRemoved, .secondFactorAdded: "%LINK%"
            }
        }
    }

    public var kind: Kind
    /// The e-mail address, or the phone number of a text message.
    public var recipient: String
    /// The link of a mail, or the code of a text message: a secret. Empty for mails without link.
    public var secret: String
    /// The address to which an account changes.
    public var newEmail: String?
    /// The name or number of the second factor, or the name of the way to sign in, that was added.
    public var factor: String?
    /// The languages that the recipient prefers, as in the header `Accept-Language`.
    public var languages: String?

    /// A notice.
    public init(_ kind: Kind, to recipient: String, secret: String, newEmail: String? = nil, languages: String? = nil) {
        self.kind = kind
        self.recipient = recipient
        self.secret = secret
        self.newEmail = newEmail
        self.languages = languages
    }
}

/// Chooses a language (RFC 9110 section 12.5.4, in the order of the weights).
enum LanguageChoice {
    /// - Parameters:
    ///   - accepted: the header's value, or one tag, such as `pt-BR` or `pt_BR`.
    ///   - available: tags in lower case with dashes.
    static func first(of accepted: String?, in available: Set<String>, otherwise fallback: String) -> String {
        guard let accepted, accepted.utf8.count <= 500 else { return fallback }
        var wanted: [(tag: String, weight: Double)] = []
        for part in accepted.split(separator: ",").prefix(20) {
            let fields = part.split(separator: ";").map { $0.filter { $0 != " " } }
            guard let tag = fields.first, !tag.isEmpty else { continue }
            let weight = fields.dropFirst().first { $0.hasPrefix("q=") }.flatMap { Double($0.dropFirst(2)) } ?? 1
            if weight > 0 { wanted.append((canonical(tag), weight)) }
        }
        // The sort must keep the order of equal weights, which Swift's does not promise.
        let ordered = wanted.enumerated().sorted { ($1.element.weight, $0.offset) < ($0.element.weight, $1.offset) }
        for (_, choice) in ordered {
            var tag = choice.tag[...]
            while !tag.isEmpty {
                if available.contains(String(tag)) { return String(tag) }
                tag = tag.lastIndex(of: "-").map { tag[..<$0] } ?? ""
            }
        }
        return fallback
    }

    /// Lower case, with dashes.
    static func canonical(_ tag: String) -> String { String(tag.lowercased().map { $0 == "_" ? "-" : $0 }) }
}
