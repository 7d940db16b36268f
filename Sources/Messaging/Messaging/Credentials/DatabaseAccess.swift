/// The rights of a service account's access token on its project's databases (spec messaging 5.6).
public enum DatabaseAccess: Sendable, Hashable {
    /// It makes an administrator, until then, in seconds since 1970.
    case administrator(until: Int64)
    /// It has ended.
    case expired
    /// It is no access token of this host, or for another project, or not for databases.
    case refused
    /// Whether its account is still there cannot be said now.
    case unavailable

    /// The prefix of every access token.
    public static let prefix: StaticString = "ya29."
}
