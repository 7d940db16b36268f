public import HTTP
public import Logging

/// Access tokens of a service account for another service of Google than messaging.
public struct ServiceAccountAccess: Sendable {
    private let tokens: AccessTokens

    /// - Parameters:
    ///   - scope: the permission that the tokens give.
    ///   - now: milliseconds since 1970.
    public init(_ key: ServiceAccountKey, scope: String, client: HTTPClient, log: Logger, now: @escaping @Sendable () -> Int64) {
        tokens = AccessTokens(key, scope: scope, client: client, log: log, now: now)
    }

    /// A valid token; nil if there is none now, for a reason that the log has.
    public func token() async -> String? {
        do throws(AccessTokens.Problem) { return try await tokens.current() } catch { return nil }
    }

    /// Drops a token that the service has refused.
    public func forget(_ token: String) async { await tokens.forget(token) }
}
