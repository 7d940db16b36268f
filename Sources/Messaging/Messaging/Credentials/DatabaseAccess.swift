import HearthBytes

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

extension MessagingFrontEnd {
    /// Whether an access token makes its bearer an administrator of the databases of `project`. Asks the loop's own memory.
    public func databaseAccess(_ token: Span<UInt8>, project: String) -> DatabaseAccess {
        do throws(MessagingError) {
            let (caller, ends) = try callers.account(token)
            guard case .account(_, let own, let scopes) = caller, own == project, scopes.allowDatabases else { return .refused }
            return .administrator(until: ends)
        } catch {
            return switch error.kind {
            case .invalidCredential(isExpired: true): .expired
            case .unavailable, .internalError: .unavailable
            default: .refused
            }
        }
    }
}
