import Accounts
import Tokens

/// App Check for requests of clients (spec auth 5.4).
extension AuthenticationFrontEnd {
    private static let noApp = AuthError("Firebase App Check token is invalid.", status: 401, statusName: "UNAUTHENTICATED")

    /// Refuses a request that does not come from one of the project's apps, if the configuration says so. Administrators need no app.
    func requireApp(_ call: AuthCall) async throws(AuthError) {
        guard let apps = service.tools.apps, !call.isAdministrator else { return }
        guard let reason = await Self.refusal(call.appCheckToken, apps.tokens) else { return }
        apps.report(reason)
        if apps.isEnforced { throw Self.noApp }
    }

    /// The reason why a token is not good; nil if it is.
    private static func refusal(_ token: [UInt8]?, _ verifier: TokenVerifier) async -> String? {
        guard let token, !token.isEmpty else { return "there is no App Check token" }
        if verifier.cached(token.span) != nil { return nil }
        // A task of its own: a signature is not verified on the loop.
        switch await Task(operation: { await verifier.verify(token) }).value {
        case .success: return nil
        case .failure(let refusal): return verifier.reason(for: refusal, of: token)
        }
    }
}
