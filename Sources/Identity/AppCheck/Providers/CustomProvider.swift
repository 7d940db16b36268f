import HearthJSON
import Tokens

/// A token that a server of the app has signed with the key of a service account (spec auth 5).
struct CustomProvider: AttestationProvider {
    let accounts: AccountKeys
    let clockSkewSeconds: Int

    private static let audience = "https://firebaseappcheck.googleapis.com/google.firebase.appcheck.v1.TokenExchangeService"
    private static let tokenSeconds = 1800...604_800

    var methods: [ExchangeMethod] { [.custom] }

    func attest(_ request: AttestationRequest) async throws(AppCheckError) -> Attestation {
        let token = try request.body.required("customToken")
        let tokenID = try request.body.text("jti")
        if tokenID != nil, try !request.body.flag("limitedUse") { throw .invalid("jti needs limitedUse.") }
        if let tokenID, tokenID.utf8.count > 500 { throw .invalid("jti is too long.") }
        let claims = try await verified(token, now: request.now)
        guard claims["app_id"]?.string == request.app else { throw .rejected }
        var attestation = Attestation(tokenID: tokenID)
        if let lifetime = claims["ttl"] {
            guard let seconds = lifetime.string.flatMap({ Self.seconds($0) }), Self.tokenSeconds.contains(seconds) else {
                throw .invalid("ttl must be from 1800s to 604800s.")
            }
            attestation.tokenSeconds = seconds
        }
        return attestation
    }

    @concurrent
    private func verified(_ token: String, now: Int) async throws(AppCheckError) -> JSONObject {
        do throws(TokenRefusal) {
            return try accounts.verify(token, audience: Self.audience, now: now, clockSkewSeconds: clockSkewSeconds)
        } catch {
            throw .rejected
        }
    }

    /// The whole seconds of a duration in protobuf's form, such as `3600s` or `1800.5s`.
    static func seconds(_ text: String) -> Int? {
        guard text.hasSuffix("s") else { return nil }
        let parts = text.dropLast().split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.allSatisfy({ (1...12).contains($0.utf8.count) && $0.utf8.allSatisfy { (48...57).contains($0) } }) else { return nil }
        return parts.first.flatMap { Int($0) }
    }
}
