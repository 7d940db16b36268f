import HearthJSON
import HTTP
import Tokens

/// A token that an app gives back to Apple when a user deletes the account.
public enum RevokedToken: Sendable {
    case accessToken, refreshToken
    /// Exchanged for tokens first, which are revoked.
    case code

    /// The kind that a request names, in words or, as the SDK for Apple platforms does, by number.
    public init(_ name: String) {
        switch name {
        case "2", "REFRESH_TOKEN": self = .refreshToken
        case "3", "CODE": self = .code
        default: self = .accessToken
        }
    }
}

extension ProviderDirectory {
    /// Further clients are not tried.
    private static let clientsMax = 5

    /// Revokes a token of Sign in with Apple.
    ///
    /// The request does not tell for which client the token was issued, so each configured one is tried.
    public func revoke(apple token: String, kind: RevokedToken) async -> Result<Void, AssertionError> {
        do throws(AssertionError) {
            guard let settings = apple?.settings, settings.key != nil else { throw .notAllowed }
            guard token.utf8.count <= 4096 else { throw .invalid("The token is too long.") }
            for client in settings.clientIDs.prefix(Self.clientsMax) where try await revoke(token, kind, client, settings) { return .success(()) }
            throw .invalid("Apple does not accept the token.")
        } catch {
            return .failure(error)
        }
    }

    /// - Returns: whether the token was one of this client.
    private func revoke(_ token: String, _ kind: RevokedToken, _ client: String, _ settings: AppleSettings) async throws(AssertionError) -> Bool {
        guard let secret = settings.key?.clientSecret(client: client, audience: settings.issuer, now: clock.now()) else { throw .notAllowed }
        let credentials = [("client_id", client), ("client_secret", secret)]
        var (revoked, hint) = (token, kind == .refreshToken ? "refresh_token" : "access_token")
        if kind == .code {
            let answer = try await post(settings.tokenURL, credentials + [("grant_type", "authorization_code"), ("code", token)], settings)
            guard answer.status == 200, let tokens = answer.json else { return false }
            hint = tokens["refresh_token"]?.string == nil ? "access_token" : "refresh_token"
            guard let found = tokens[hint]?.string else { return false }
            revoked = found
        }
        return try await post(settings.revocationURL, credentials + [("token", revoked), ("token_type_hint", hint)], settings).status == 200
    }

    private func post(_ url: String, _ form: [(String, String)], _ settings: AppleSettings) async throws(AssertionError) -> ProviderAnswer {
        var request = ProviderRequest(url: url)
        request.timeoutMilliseconds = settings.timeoutMilliseconds
        request.form = FormText.query(form)
        guard let answer = await transport.exchange(request, attempts: 1) else { throw .remote(AppleProvider.id) }
        return answer
    }
}
