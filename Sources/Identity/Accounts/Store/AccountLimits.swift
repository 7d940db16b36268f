/// Bounds of what clients may cause: each for an hour unless its name says a day. Nil: unlimited. Administrators have none.
///
/// The counts are in the store of users, so that a restart forgets none, and are removed when their time is over.
public struct AccountLimits: Sendable, Equatable {
    /// New users of one client address.
    public var signUpsPerAddress: Int?
    /// Mails to one e-mail.
    public var mailsPerAccount: Int?
    /// Mails that one client address causes.
    public var mailsPerAddress: Int?
    /// All mails that clients cause.
    public var mailsPerDay: Int?
    /// Text messages to one number.
    public var textsPerAccount: Int?
    /// Text messages that one client address causes.
    public var textsPerAddress: Int?
    /// All text messages.
    public var textsPerDay: Int?
    /// Wrong codes for the second factors of one user.
    public var wrongCodesPerAccount: Int?
    /// Wrong codes of one client address.
    public var wrongCodesPerAddress: Int?

    /// No limits.
    public init() {}

    /// The limits of production.
    public static let production: AccountLimits = {
        var limits = AccountLimits()
        limits.signUpsPerAddress = 100
        limits.mailsPerAccount = 20
        limits.mailsPerAddress = 100
        limits.mailsPerDay = 10_000
        limits.textsPerAccount = 5
        limits.textsPerAddress = 50
        limits.textsPerDay = 1000
        limits.wrongCodesPerAccount = 10
        limits.wrongCodesPerAddress = 100
        return limits
    }()
}
