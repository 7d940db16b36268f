import HearthJSON

/// A mail that tells a user of a change of the account's security. It is stored with the change, and removed when it was sent: a host that ends in
/// between sends it after the next start.
public struct SecurityNotice: Sendable, Equatable {
    /// The kinds of changes.
    public enum Kind: String, Sendable {
        case emailChanged, factorAdded, signInAdded
    }

    public var id: Int64 = 0
    public var kind: Kind
    /// The recipient.
    public var email: String
    /// The link that undoes the change, a secret; nil if there is none.
    public var link: String?
    /// The e-mail after a change of it; nil if it was removed.
    public var newEmail: String?
    /// The name of the second factor, or of the way to sign in.
    public var label: String?
    /// The languages that the user prefers, as in the header `Accept-Language`.
    public var language: String?

    init(_ kind: Kind, to email: String) {
        self.kind = kind
        self.email = email
    }

    init?(id: Int64, stored: JSONValue) {
        guard let kind = stored["kind"]?.string.flatMap({ Kind(rawValue: $0) }), let email = stored["email"]?.string else { return nil }
        self.init(kind, to: email)
        self.id = id
        link = stored["link"]?.string
        newEmail = stored["newEmail"]?.string
        label = stored["label"]?.string
        language = stored["language"]?.string
    }

    var stored: JSONValue {
        var object: JSONObject = ["kind": .string(kind.rawValue), "email": .string(email)]
        object["link"] = link.map { .string($0) }
        object["newEmail"] = newEmail.map { .string($0) }
        object["label"] = label.map { .string($0) }
        object["language"] = language.map { .string($0) }
        return .object(object)
    }
}
