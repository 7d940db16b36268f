internal import HearthJSON

/// The credentials of an identity provider that a blocking function gets.
public struct BlockingCredentials: OptionSet, Sendable {
    /// The members as bits.
    public let rawValue: Int

    /// A set from its bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The provider's ID token.
    public static let idToken = BlockingCredentials(rawValue: 1)
    /// The provider's access token.
    public static let accessToken = BlockingCredentials(rawValue: 2)
    /// The provider's refresh token.
    public static let refreshToken = BlockingCredentials(rawValue: 4)
}

/// A trigger of an operation that waits for the function, as the manifest has it.
struct BlockingDefinition: Sendable {
    enum Kind: String, Sendable {
        case beforeCreate, beforeSignIn, beforeSendEmail, beforeSendSms
    }

    let kind: Kind
    var credentials: BlockingCredentials = []

    static let timeoutSecondsMax = 7

    var manifest: JSONValue {
        var options = JSONObject()
        for (name, credential) in [("idToken", BlockingCredentials.idToken), ("accessToken", .accessToken), ("refreshToken", .refreshToken)]
        where credentials.contains(credential) { options[name] = true }
        return ["eventType": .string("providers/cloud.auth/eventTypes/user.\(kind.rawValue)"), "options": .object(options)]
    }
}
